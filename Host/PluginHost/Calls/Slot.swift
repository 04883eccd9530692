import CLarder

/// A table of functions that a plugin gets, such as a cursor. It has a source.
protocol SlotTable {
    associatedtype Kind: SlotKind where Kind.Table == Self
    /// The slot that contains the table.
    var context: UnsafeMutableRawPointer? { get }
}

/// The properties of one kind of table: its functions, and the memory that these lend.
protocol SlotKind {
    associatedtype Table
    /// The source of the values that the functions return.
    associatedtype Source

    /// The largest number of tables of this kind that a plugin may have open at a time.
    static var most: Int { get }
    /// The messages for a plugin that opens too many tables, calls a closed one, or closes one that is not open.
    static var tooManyText: String { get }
    static var closedText: String { get }
    static var notOpenText: String { get }

    init()

    static func table(context: UnsafeMutableRawPointer) -> Table

    /// Frees the lent memory, when the table is closed.
    func free()
}

extension SlotKind {
    static var tooManyText: String { "more than \(most) are open" }
    static var notOpenText: String { "it is not open" }
    func free() {}
}

/// A slot of any kind.
protocol AnySlot: AnyObject {
    var isOpen: Bool { get }
    func close()
}

/// A table that a plugin got, with its source. It is open until it is closed or the call under way returns.
///
/// A slot is used again for the next table of its kind. It is never freed, because its owner is never freed.
final class Slot<Kind: SlotKind>: AnySlot {
    let table = UnsafeMutablePointer<Kind.Table>.allocate(capacity: 1)
    let kind = Kind()
    /// Whether the host opened the slot. Such a slot does not count for the limit, and the plugin cannot close it.
    var isHosts = false
    fileprivate let owner: InstanceContext
    /// The source; nil if the slot is closed. It lies in memory of its own, so that reading it for each item needs no
    /// check for exclusive access.
    private let source = UnsafeMutablePointer<Kind.Source?>.allocate(capacity: 1)

    init(owner: InstanceContext) {
        self.owner = owner
        source.initialize(to: nil)
        table.initialize(to: Kind.table(context: Unmanaged.passRetained(self).toOpaque()))
    }

    var isOpen: Bool { source.pointee != nil }

    func open(_ source: Kind.Source) -> UnsafeMutablePointer<Kind.Table> {
        self.source.pointee = source
        return table
    }

    func close() {
        source.pointee = nil
        kind.free()
    }

    /// Returns the source for a call on the table.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the table is closed.
    func opened() throws(ServiceError) -> Kind.Source {
        guard let source = source.pointee else { throw ServiceError(LARDER_INVALID_ARGUMENT, Kind.closedText) }
        return source
    }
}

/// Answers a plugin's call on a table that it got. The function is inlined, because a cursor is called for each item.
func serve<Table: SlotTable>(
    _ table: UnsafeMutablePointer<Table>, _ name: StaticString, during tag: ServiceTag,
    _ body: (InstanceContext, Slot<Table.Kind>) throws(ServiceError) -> Void
) -> larder_status {
    guard let address = table.pointee.context else { return LARDER_INVALID_ARGUMENT }
    let slot = Unmanaged<Slot<Table.Kind>>.fromOpaque(address).takeUnretainedValue()
    return serve(slot.owner, name, during: tag) { context throws(ServiceError) in try body(context, slot) }
}
