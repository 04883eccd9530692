import CLarder

/// A table of functions that a plugin gets, with a source behind it, such as a cursor.
protocol SlotTable {
    associatedtype Kind: SlotKind where Kind.Table == Self
    /// The slot that it lies in.
    var context: UnsafeMutableRawPointer? { get }
}

/// What one kind of table has of its own: its functions, and the memory that these lend.
protocol SlotKind {
    associatedtype Table
    /// Where what the functions hand out comes from.
    associatedtype Source

    /// How many the plugin may have open at a time.
    static var most: Int { get }
    /// What the plugin is told when it has opened too many, calls a closed one, and closes what is not open.
    static var tooManyText: String { get }
    static var closedText: String { get }
    static var notOpenText: String { get }

    init()

    static func table(context: UnsafeMutableRawPointer) -> Table

    /// Gives back what was lent, when the table is closed.
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

/// A table that a plugin got, with what stands behind it, open until it is closed or the call under way returns.
///
/// It is used again for the next one of its kind and never freed, as its owner is not.
final class Slot<Kind: SlotKind>: AnySlot {
    let table = UnsafeMutablePointer<Kind.Table>.allocate(capacity: 1)
    let kind = Kind()
    /// Whether the host opened it: it does not count, and the plugin cannot close it.
    var isHosts = false
    fileprivate let owner: InstanceContext
    /// Nil: it is closed. In memory of its own, which is read for each item without asking who else does.
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

    /// The source, for a call on the table.
    func opened() throws(ServiceError) -> Kind.Source {
        guard let source = source.pointee else { throw ServiceError(LARDER_INVALID_ARGUMENT, Kind.closedText) }
        return source
    }
}

/// Answers a call of the plugin's on a table that it got. It is inlined: a cursor is called for each item.
func serve<Table: SlotTable>(
    _ table: UnsafeMutablePointer<Table>, _ name: StaticString, during tag: ServiceTag,
    _ body: (InstanceContext, Slot<Table.Kind>) throws(ServiceError) -> Void
) -> larder_status {
    guard let address = table.pointee.context else { return LARDER_INVALID_ARGUMENT }
    let slot = Unmanaged<Slot<Table.Kind>>.fromOpaque(address).takeUnretainedValue()
    return serve(slot.owner, name, during: tag) { context throws(ServiceError) in try body(context, slot) }
}
