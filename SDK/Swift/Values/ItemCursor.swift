/// A stream of items, valid for the call. An item is gone when the next one is asked for.
///
/// ```swift
/// let items = try host.require(host.items, .items)
/// var cursor = try items.matching("favorite", fields: [.size])
/// var bytes: Int64 = 0
/// while let item = try cursor.next() { bytes += item.size ?? 0 }
/// ```
public struct ItemCursor: ~Copyable {
    /// The host's cursor. Nil: there are no items.
    private let cursor: UnsafeMutablePointer<larder_item_cursor>?
    /// The service that closes the cursor. Nil: the host closes it.
    private let items: Host.Items?

    /// Creates a cursor that the host closes.
    init(borrowing cursor: UnsafeMutablePointer<larder_item_cursor>?) {
        self.cursor = cursor
        items = nil
    }

    /// Creates a cursor that is closed at the end of its life.
    init(owning cursor: UnsafeMutablePointer<larder_item_cursor>, of items: Host.Items) {
        self.cursor = cursor
        self.items = items
    }

    deinit {
        if let cursor { items?.close(cursor) }
    }

    /// Returns the next item, or nil past the last one.
    /// - Throws: ``Status/io`` if the items cannot be read, ``Status/cancelled`` if the call should end.
    @_lifetime(&self)
    public mutating func next() throws(PluginError) -> Item? {
        guard let cursor else { return nil }
        var item: UnsafePointer<larder_item>?
        try Status.check(cursor.pointee.next(cursor, &item), "cursor")
        guard let item else { return nil }
        return _overrideLifetime(Item(item), mutating: &self)
    }
}
