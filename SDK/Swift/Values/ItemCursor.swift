/// A stream of items, for the call. Each item is gone when the next one is asked for.
public struct ItemCursor: ~Copyable {
    /// Nil: there are no items.
    private let cursor: UnsafeMutablePointer<larder_item_cursor>?
    /// Set if it is ours to close.
    private let items: Host.Items?

    /// One that the host closes.
    init(borrowing cursor: UnsafeMutablePointer<larder_item_cursor>?) {
        self.cursor = cursor
        items = nil
    }

    /// One that is closed when it goes.
    init(owning cursor: UnsafeMutablePointer<larder_item_cursor>, of items: Host.Items) {
        self.cursor = cursor
        self.items = items
    }

    deinit {
        if let cursor { items?.close(cursor) }
    }

    /// The next item; nil past the last.
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
