import LarderSDK

/// How much room copies may take.
struct Room {
    /// Bytes; nil: as much as they like.
    let below: Int64?
    /// Bytes that stay free on their file system; nil: none.
    let free: Int64?

    var isLimited: Bool { below != nil || free != nil }

    /// How many bytes of copies are too much; 0: none.
    func excess(_ usage: Host.Usage.Figures) -> Int64 {
        let above = below.map { usage.localBytes.subtractingSaturated($0) } ?? 0
        let missing = free.map { $0.subtractingSaturated(usage.freeBytes) } ?? 0
        return max(0, above, missing)
    }
}

/// What was asked for, in this run and in the one before, perhaps of another process. A copy that is asked for again with the same
/// last use was passed over, since somebody uses it: no room is to be had from it.
struct Asked {
    /// Where the host keeps it: a line for each copy, its id and its last use.
    static let key = "asked"
    /// More are not remembered: so many copies in use at once would be a surprise.
    private static let most = 10_000

    private var before: Set<[UInt8]> = []
    private var now: Set<[UInt8]> = []
    /// What those hold that this run asked for and that may go.
    private(set) var bytes: Int64 = 0

    mutating func beginRun(after text: [UInt8]?) {
        before = Set((text ?? []).split(separator: UInt8(ascii: "\n")).map(Array.init))
        now = []
        bytes = 0
    }

    /// - Returns: whether the copy may go, as far as is known.
    mutating func note(_ id: String, lastUsed: Int64, size: Int64) -> Bool {
        let line = Array("\(id) \(lastUsed)".utf8)
        guard !before.contains(line), !now.contains(line) else {
            now.insert(line)
            return false
        }
        if now.count < Self.most { now.insert(line) }
        bytes = bytes.addingSaturated(max(0, size))
        return true
    }

    /// What is to be kept, if it is not kept already.
    var newText: [UInt8]? {
        now == before
            ? nil : Array(now.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: "\n")]))
    }
}
