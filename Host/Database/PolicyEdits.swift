import GRDB
public import Model

extension Transaction {
    /// Stores a new policy.
    /// - Parameters:
    ///   - author: whose step in the history it is.
    ///   - runsTrigger: whether the processors' `policiesChanged` follows.
    /// - Returns: the policy with its row and first revision.
    /// - Throws: `.badData` if a condition does not parse, or the id is taken.
    @discardableResult
    public func addPolicy(
        _ policy: ItemPolicy, by author: PolicyAuthor, runsTrigger: Bool = true
    ) throws -> ItemPolicy {
        guard try self.policy(policy.id) == nil else {
            throw Failure(.badData, "there is a policy \(policy.id) already", hint: "update it, or leave the id out")
        }
        let stored = try insertPolicy(policy)
        notePolicyChange(before: nil, after: stored, by: author, runsTrigger: runsTrigger)
        return stored
    }

    /// Replaces what the policy with this id says; its id and kind stay.
    /// - Parameters:
    ///   - policy: `revision` is the one that the change was made from.
    ///   - author: whose step in the history it is.
    ///   - runsTrigger: whether the processors' `policiesChanged` follows.
    /// - Returns: the policy with its new revision.
    /// - Throws: `.notFound` if there is none with this id, `.failed` if it has another revision by now, `.badData` if a
    ///   condition does not parse.
    @discardableResult
    public func updatePolicy(
        _ policy: ItemPolicy, by author: PolicyAuthor, runsTrigger: Bool = true
    ) throws -> ItemPolicy {
        guard let current = try self.policy(policy.id) else { throw Failure.noPolicy(policy.id) }
        guard current.revision == policy.revision else {
            throw Failure(
                .failed, "the policy \(policy.id) was changed meanwhile", hint: "look at it again, then change it")
        }
        let stored = try replacePolicy(current, with: policy)
        notePolicyChange(before: current, after: stored, by: author, runsTrigger: runsTrigger)
        return stored
    }

    /// Takes a policy away.
    /// - Parameters:
    ///   - author: whose step in the history it is.
    ///   - runsTrigger: whether the processors' `policiesChanged` follows.
    /// - Throws: `.notFound` if there is none with this id.
    public func removePolicy(_ id: PolicyID, by author: PolicyAuthor, runsTrigger: Bool = true) throws {
        guard let current = try policy(id) else { throw Failure.noPolicy(id) }
        try deletePolicy(current)
        notePolicyChange(before: current, after: nil, by: author, runsTrigger: runsTrigger)
    }

    // MARK: The rows. Whoever calls these sees to the journal.

    func insertPolicy(_ policy: ItemPolicy) throws -> ItemPolicy {
        try checkConditions(of: policy)
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
        return stored
    }

    func replacePolicy(_ current: ItemPolicy, with policy: ItemPolicy) throws -> ItemPolicy {
        try checkConditions(of: policy)
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
        stored.revision = current.revision.adding(1)
        return stored
    }

    func deletePolicy(_ policy: ItemPolicy) throws {
        let statement = try RawStatement(db, "DELETE FROM policies WHERE databaseID = ?")
        statement.bind(1, policy.databaseID)
        try statement.run()
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
}

extension Failure {
    fileprivate static func noPolicy(_ id: PolicyID) -> Failure {
        Failure(.notFound, "there is no policy \(id)", hint: "`larder policy list` shows all")
    }
}
