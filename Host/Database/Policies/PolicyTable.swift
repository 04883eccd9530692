public import Model

/// The policies, and the changes to them that are not yet in the history.
public struct PolicyTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the policies, oldest first.
    /// - Parameters:
    ///   - kind: The kind of the policies; nil for every kind.
    ///   - includesInternal: Whether policies are included whose identifier begins with `_sys.`.
    public func all(kind: PolicyKind? = nil, includesInternal: Bool = true) throws -> [ItemPolicy] {
        let all =
            if let kind { try select("kind = ?", [.text(kind.text)]) } else { try select("1", []) }
        return includesInternal ? all : all.filter { !$0.isInternal }
    }

    /// Returns the policies whose condition an item meets, oldest first.
    /// - Parameter now: The time that `now` in a condition stands for.
    /// - Throws: `.badData` if a policy's condition does not parse.
    public func all(
        kind: PolicyKind? = nil, affecting item: Item, now: Timestamp, includesInternal: Bool = true
    ) throws -> [ItemPolicy] {
        try all(kind: kind, includesInternal: includesInternal).filter { policy in
            try policy.parsedCondition().matches(item, now: now)
        }
    }

    /// Returns a policy; nil if there is none with this id.
    public func policy(_ id: PolicyID) throws -> ItemPolicy? { try select("id = ?", [.text(id.text)]).first }

    /// Returns the policies for a path at which no item has been found so far.
    public func unmet() throws -> [ItemPolicy] {
        try select(
            """
            path IS NOT NULL AND localID IS NULL
              AND NOT EXISTS (SELECT 1 FROM items WHERE items.path = policies.path AND items.removedAt IS NULL)
            """, [])
    }

    private func select(_ sql: String, _ arguments: [SQLValue]) throws -> [ItemPolicy] {
        let statement = try RawStatement(
            db,
            """
            SELECT databaseID, id, kind, identifier, description, condition, path, localID, removeWhenNone, data,
              revision
            FROM policies WHERE \(sql) ORDER BY databaseID
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        var policies: [ItemPolicy] = []
        while try statement.step() {
            policies.append(
                ItemPolicy(
                    databaseID: statement.id(0), id: PolicyID(statement.text(1) ?? ""),
                    kind: PolicyKind(statement.text(2) ?? ""), identifier: statement.text(3),
                    description: statement.text(4), condition: statement.text(5) ?? "",
                    path: statement.text(6).map(ItemPath.init(unchecked:)),
                    localID: statement.text(7).map(LocalID.init),
                    removeWhenNone: statement.text(8), data: statement.blob(9), revision: statement.integer(10) ?? 1))
        }
        return policies
    }

    /// Returns the changes that are not yet in the history, oldest first.
    /// - Parameter limit: The largest number of rows.
    /// - Throws: `.localIO` if a row cannot be read, or was written by a newer Larder.
    public func changes(limit: Int) throws -> [PolicyJournalRow] {
        let statement = try RawStatement(db, "SELECT number, id, content FROM policyChanges ORDER BY number LIMIT ?")
        defer { statement.reset() }
        statement.bind(1, Int64(limit))
        var rows: [PolicyJournalRow] = []
        while try statement.step() {
            rows.append(
                PolicyJournalRow(
                    number: statement.integer(0) ?? 0, id: PolicyChangeID(statement.text(1) ?? ""),
                    entry: try PolicyEntry(json: statement.text(2) ?? "")))
        }
        return rows
    }

    /// Returns the number of changes that are not yet in the history.
    public func changeCount() throws -> Int {
        let statement = try RawStatement(db, "SELECT count(*) FROM policyChanges")
        defer { statement.reset() }
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    /// Returns the number of items that meet a policy's condition, and the size of the files among them according to
    /// the server. Removed items and the root are not counted.
    /// - Parameter now: The time that `now` in the condition stands for.
    /// - Throws: `.badData` if the condition does not parse.
    public func coverage(of policy: ItemPolicy, now: Timestamp) throws -> (items: Int64, bytes: Int64) {
        let condition = ConditionSQL.compile(try policy.parsedCondition(), now: now)
        let statement = try RawStatement(
            db,
            """
            SELECT count(*), total(size) FILTER (WHERE type = 0) FROM items
            WHERE removedAt IS NULL AND path <> '/' AND (\(condition.sql))
            """)
        defer { statement.reset() }
        statement.bind(condition.arguments.map { .text($0) })
        guard try statement.step() else { return (0, 0) }
        return (statement.integer(0) ?? 0, statement.integer(1) ?? 0)
    }
}

extension DatabaseReads {
    /// The policies, and the changes to them that are not yet in the history.
    public var policies: PolicyTable<Self> { PolicyTable(access: self) }
}
