import CLarder
public import Model

/// The properties of a plugin's event loops, as the plugin describes them.
public struct LoopOffer: Hashable, Sendable {
    /// The kind of the loops.
    public var kind: LoopKind
    /// The collection with one loop for each of its records; nil if there is one loop.
    public var collection: RecordCollection?
    /// The bits for which refreshes are requested one by one.
    public var refreshBits: UInt32
    /// The hints after which the loops are polled at once.
    public var hints: HintSet

    init(_ table: larder_event_loop) throws(Refusal) {
        guard let kind = table.kind.text, !kind.isEmpty else {
            throw .badText("its event loop's kind is missing or not UTF-8")
        }
        self.kind = LoopKind(kind)
        if !table.collection.isAbsent {
            guard let collection = table.collection.text, !collection.isEmpty else {
                throw .badText("its event loop's collection is empty or not UTF-8")
            }
            guard RecordCollection(collection).isRoot else {
                throw .badText(
                    "its event loop's collection has a slash, which only collections that belong to a record may have")
            }
            self.collection = RecordCollection(collection)
        }
        guard table.refresh_bits & ~LARDER_REFRESH_EVERYTHING == 0 else {
            throw .badText("its event loop's refresh_bits are \(table.refresh_bits), and only the lowest eight exist")
        }
        refreshBits = table.refresh_bits
        hints = HintSet(rawValue: table.hints)
    }
}

extension larder_event_loop: SizedTable {
    static var tableName: String { "larder.event-loop/1" }
    static var firstSize: Int { 88 }
    static var functions: (offset: Int, names: [String]) {
        (48, ["poll", "process", "refresh", "on_error", "release_page"])
    }
}

extension larder_event_page: SizedTable {
    static var tableName: String { "event page" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}
