extension Host {
    /// All items that meet a condition; nil if withheld.
    public var items: Items? { table(.items, as: larder_items.self).map { Items(host: pointer, table: $0) } }

    /// The account's items, found by conditions.
    public struct Items {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_items>

        /// Streams the items that meet a condition, removed ones included, as they were at the start of the run. The cursor is
        /// good for the call under way.
        /// - Parameters:
        ///   - condition: in the condition language.
        ///   - order: nil: in no particular order.
        ///   - descending: the greatest first.
        ///   - limit: the most items that are wanted, the first of the order; nil: all.
        /// - Throws: ``Status/invalidArgument`` if the condition does not parse, ``Status/limit`` if 16 cursors are
        ///   open, and ``Status/io`` if the items cannot be read.
        public func matching(
            _ condition: String, fields: ItemFields, sortedBy order: ItemSort? = nil, descending: Bool = false,
            limit: Int? = nil
        ) throws(PluginError) -> ItemCursor {
            if let limit, limit <= 0 { return ItemCursor(borrowing: nil) }
            var loan = Loan()
            var query = larder_query(
                struct_size: UInt32(MemoryLayout<larder_query>.size), reserved: 0, condition: loan.text(condition),
                fields: fields.rawValue, sort: order?.rawValue ?? 0, flags: descending ? LARDER_QUERY_DESCENDING : 0,
                limit: UInt64(limit ?? 0))
            var cursor: UnsafeMutablePointer<larder_item_cursor>?
            try Status.check(table.pointee.open(host, &query, &cursor), "items.open")
            guard let cursor else { throw PluginError(.internal, "the host's items.open handed out nothing") }
            return ItemCursor(owning: cursor, of: self)
        }

        func close(_ cursor: UnsafeMutablePointer<larder_item_cursor>) {
            // A cursor that the host has closed already needs nothing more.
            _ = table.pointee.close(host, cursor)
        }
    }
}
