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

extension Transaction {
    /// Stores a new policy.
    /// - Parameter runsTrigger: whether the processors' `policiesChanged` follows.
    /// - Returns: the policy with its row and first revision.
    /// - Throws: `.badData` if a condition does not parse, or the id is taken.
    @discardableResult
    public func addPolicy(_ policy: ItemPolicy, runsTrigger: Bool = true) throws -> ItemPolicy {
        try checkConditions(of: policy)
        guard try self.policy(policy.id) == nil else {
            throw Failure(.badData, "there is a policy \(policy.id) already", hint: "update it, or leave the id out")
        }
        let statement = try RawStatement(
            db,
            """
            INSERT INTO policies
              (id, kind, identifier, description, condition, path, localID, removeWhenNone, data, revision)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
            """)
        statement.bind([.text(policy.id.text), .text(policy.kind.text)])
        bindContents(of: policy, to: statement, from: 3)
        try statement.run()
        var stored = policy
        stored.databaseID = db.lastInsertedRowID
        stored.revision = 1
        notePoliciesChanged(runsTrigger: runsTrigger)
        return stored
    }

    /// Replaces what the policy with this id says; its id and kind stay.
    /// - Parameters:
    ///   - policy: `revision` is the one that the change was made from.
    ///   - runsTrigger: whether the processors' `policiesChanged` follows.
    /// - Returns: the policy with its new revision.
    /// - Throws: `.notFound` if there is none with this id, `.failed` if it has another revision by now, `.badData` if a
    ///   condition does not parse.
    @discardableResult
    public func updatePolicy(_ policy: ItemPolicy, runsTrigger: Bool = true) throws -> ItemPolicy {
        try checkConditions(of: policy)
        guard let current = try self.policy(policy.id) else { throw Self.noPolicy(policy.id) }
        guard current.revision == policy.revision else {
            throw Failure(
                .failed, "the policy \(policy.id) was changed meanwhile", hint: "look at it again, then change it")
        }
        let statement = try RawStatement(
            db,
            """
            UPDATE policies SET identifier = ?, description = ?, condition = ?, path = ?, localID = ?, removeWhenNone = ?,
              data = ?, revision = revision + 1
            WHERE databaseID = ?
            """)
        bindContents(of: policy, to: statement, from: 1)
        statement.bind(8, current.databaseID)
        try statement.run()
        var stored = policy
        stored.databaseID = current.databaseID
        stored.kind = current.kind
        stored.revision = current.revision + 1
        notePoliciesChanged(runsTrigger: runsTrigger)
        return stored
    }

    /// Takes a policy away.
    /// - Parameter runsTrigger: whether the processors' `policiesChanged` follows.
    /// - Throws: `.notFound` if there is none with this id.
    public func removePolicy(_ id: PolicyID, runsTrigger: Bool = true) throws {
        let statement = try RawStatement(db, "DELETE FROM policies WHERE id = ?")
        statement.bind(1, id.text)
        try statement.run()
        guard db.changesCount == 1 else { throw Self.noPolicy(id) }
        notePoliciesChanged(runsTrigger: runsTrigger)
    }

    private func bindContents(of policy: ItemPolicy, to statement: RawStatement, from first: Int32) {
        statement.bind(first, policy.identifier)
        statement.bind(first + 1, policy.description)
        statement.bind(first + 2, policy.condition)
        statement.bind(first + 3, policy.path?.text)
        statement.bind(first + 4, policy.localID?.text)
        statement.bind(first + 5, policy.removeWhenNone)
        statement.bind(first + 6, policy.data)
    }

    private func checkConditions(of policy: ItemPolicy) throws {
        for text in [policy.condition, policy.removeWhenNone].compactMap(\.self) {
            do throws(ConditionError) { _ = try Condition(parsing: text) } catch {
                throw error.failure(in: "the policy's condition")
            }
        }
    }

    private static func noPolicy(_ id: PolicyID) -> Failure {
        Failure(.notFound, "there is no policy \(id)", hint: "`larder policy list` shows all")
    }
}
