import GRDB
public import Model

extension DatabaseReads {
    /// The policies, oldest first.
    /// - Parameters:
    ///   - kind: nil: of every kind.
    ///   - includesInternal: whether those whose identifier begins with `_sys.` are listed too.
    public func policies(kind: PolicyKind? = nil, includesInternal: Bool = true) throws -> [ItemPolicy] {
        let all =
            if let kind { try policies("kind = ?", [.text(kind.text)]) } else { try policies("1", []) }
        return includesInternal ? all : all.filter { !$0.isInternal }
    }

    /// The policies whose condition the item meets, oldest first.
    /// - Parameter now: the moment that `now` in a condition stands for.
    public func policies(
        kind: PolicyKind? = nil, affecting item: Item, now: Timestamp, includesInternal: Bool = true
    ) throws -> [ItemPolicy] {
        try policies(kind: kind, includesInternal: includesInternal).filter { policy in
            try policy.parsedCondition().matches(item, now: now)
        }
    }

    /// Nil: there is none with this id.
    public func policy(_ id: PolicyID) throws -> ItemPolicy? { try policies("id = ?", [.text(id.text)]).first }

    /// Policies for a path at which nothing was found so far.
    public func unmetPolicies() throws -> [ItemPolicy] {
        try policies(
            """
            path IS NOT NULL AND localID IS NULL
              AND NOT EXISTS (SELECT 1 FROM items WHERE items.path = policies.path AND items.removedAt IS NULL)
            """, [])
    }

    private func policies(_ sql: String, _ arguments: [SQLValue]) throws -> [ItemPolicy] {
        let statement = try RawStatement(
            db,
            """
            SELECT databaseID, id, kind, identifier, description, condition, path, localID, removeWhenNone, data, revision
            FROM policies WHERE \(sql) ORDER BY databaseID
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        var policies: [ItemPolicy] = []
        while try statement.step() {
            policies.append(
                ItemPolicy(
                    databaseID: statement.integer(0) ?? 0, id: PolicyID(statement.text(1) ?? ""),
                    kind: PolicyKind(statement.text(2) ?? ""), identifier: statement.text(3),
                    description: statement.text(4), condition: statement.text(5) ?? "",
                    path: statement.text(6).map(ItemPath.init(unchecked:)),
                    localID: statement.text(7).map(LocalID.init),
                    removeWhenNone: statement.text(8), data: statement.blob(9), revision: statement.integer(10) ?? 1))
        }
        return policies
    }
}

extension ItemPolicy {
    /// The condition that its items meet.
    /// - Throws: `.badData` if the text is none.
    public func parsedCondition() throws(Failure) -> Condition {
        do throws(ConditionError) { return try Condition(parsing: condition) } catch {
            throw error.failure(in: "the policy \(id)")
        }
    }
}
