public import Model

/// What a server holds at a path.
public struct HeldItem: Hashable, Sendable {
    /// The item, as a listing tells it.
    public var item: ListedItem
    /// Whether the item is a calendar, an address book or a principal, which no action may take for a folder.
    public var isForeign: Bool
    /// The checksums of a file's whole content (`oc:checksums`).
    public var checksums: [ContentChecksum]
    /// The number of bytes that the account may still store in this folder, if the server tells it (RFC 4331).
    public var available: Int64?
    /// The server's clock when it answered, to the second.
    public var date: Timestamp?

    /// Creates the facts.
    public init(
        item: ListedItem, isForeign: Bool = false, checksums: [ContentChecksum] = [], available: Int64? = nil,
        date: Timestamp? = nil
    ) {
        self.item = item
        self.isForeign = isForeign
        self.checksums = checksums
        self.available = available
        self.date = date
    }
}
