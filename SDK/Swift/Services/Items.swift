extension Host {
    /// All items that meet a condition. Nil if the service is withheld.
    public var items: Items? { table(.items, as: larder_items.self).map { Items(host: pointer, table: $0) } }

    /// The account's items, found by conditions.
    ///
    /// ```swift
    /// let items = try host.require(host.items, .items)
    /// let copies: Condition = .cloudStatus == .localCopy && !.removed
    /// var cursor = try items.matching(copies.text, fields: [.localID], sortedBy: .lastUsed, limit: 100)
    /// while let item = try cursor.next() {
    ///     if let localID = item.localID { host.log?.debug(localID.copied()) }
    /// }
    /// ```
    public struct Items {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_items>

        /// Streams the items that meet a condition, including removed ones, in their state at the start of the run. The
        /// cursor is valid for the current call.
        /// - Parameters:
        ///   - condition: A text in the condition language.
        ///   - fields: The fields to fill.
        ///   - order: The property to sort by. Nil: in no particular order.
        ///   - descending: Puts the greatest value first.
        ///   - limit: The greatest number of items, the first ones of the order. Nil: all.
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
            guard let cursor else { throw PluginError(.internal, "the host's items.open returned no cursor") }
            return ItemCursor(owning: cursor, of: self)
        }

        func close(_ cursor: UnsafeMutablePointer<larder_item_cursor>) {
            // A failure means that the host has closed the cursor already.
            _ = table.pointee.close(host, cursor)
        }
    }
}
