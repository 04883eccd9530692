public import Model

/// The writes that concern policies.
extension PolicyTable where Access == Transaction {
    /// Stores a new policy.
    /// - Parameters:
    ///   - author: The author of the step in the history.
    ///   - runsTrigger: Whether the processors' trigger `policiesChanged` follows.
    /// - Returns: The policy with its row's id and its first revision.
    /// - Throws: `.badData` if a condition does not parse, or the id is taken.
    @discardableResult
    public func add(
        _ policy: ItemPolicy, by author: PolicyAuthor, runsTrigger: Bool = true
    ) throws -> ItemPolicy {
        guard try self.policy(policy.id) == nil else {
            throw Failure(.badData, "there is a policy \(policy.id) already", hint: "update it, or leave the id out")
        }
        let stored = try insert(policy)
        access.notePolicyChange(before: nil, after: stored, by: author, runsTrigger: runsTrigger)
        return stored
    }

    /// Replaces the contents of the policy with this id. Its id and kind stay.
    /// - Parameters:
    ///   - policy: The new contents. Its `revision` is the revision that the change was made from.
    ///   - author: The author of the step in the history.
    ///   - runsTrigger: Whether the processors' trigger `policiesChanged` follows.
    /// - Returns: The policy with its new revision.
    /// - Throws: `.notFound` if there is no policy with this id, `.failed` if the policy has another revision by now,
    ///   `.badData` if a condition does not parse.
    @discardableResult
    public func update(
        _ policy: ItemPolicy, by author: PolicyAuthor, runsTrigger: Bool = true
    ) throws -> ItemPolicy {
        guard let current = try self.policy(policy.id) else { throw Failure.noPolicy(policy.id) }
        guard current.revision == policy.revision else {
            throw Failure(
                .failed, "the policy \(policy.id) was changed meanwhile", hint: "read the policy again, then change it")
        }
        let stored = try replace(current, with: policy)
        access.notePolicyChange(before: current, after: stored, by: author, runsTrigger: runsTrigger)
        return stored
    }

    /// Removes a policy.
    /// - Parameters:
    ///   - author: The author of the step in the history.
    ///   - runsTrigger: Whether the processors' trigger `policiesChanged` follows.
    /// - Throws: `.notFound` if there is no policy with this id.
    public func remove(_ id: PolicyID, by author: PolicyAuthor, runsTrigger: Bool = true) throws {
        guard let current = try policy(id) else { throw Failure.noPolicy(id) }
        try delete(current)
        access.notePolicyChange(before: current, after: nil, by: author, runsTrigger: runsTrigger)
    }

    // MARK: The rows. The callers of these functions write the journal.

    func insert(_ policy: ItemPolicy) throws -> ItemPolicy {
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
        stored.databaseID = insertedID()
        stored.revision = 1
        return stored
    }

    func replace(_ current: ItemPolicy, with policy: ItemPolicy) throws -> ItemPolicy {
        try checkConditions(of: policy)
        let statement = try RawStatement(
            db,
            """
            UPDATE policies SET identifier = ?, description = ?, condition = ?, path = ?, localID = ?, removeWhenNone \
            = ?,
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

    func delete(_ policy: ItemPolicy) throws {
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

    /// Undoes or redoes a step of the policies' history. If the function throws, nothing is changed.
    ///
    /// If the step changed a policy, only the fields that the step set are set. The undoing or redoing is itself a row
    /// of the journal.
    /// - Parameters:
    ///   - step: The step that `move` names.
    ///   - later: The quiet steps after the step in the history, in order, if the step is redone. They were not undone
    ///     together with the step, so that a policy that is added again gets their changes.
    /// - Returns: The policies that were to be removed and no longer exist.
    /// - Throws: `.badData` if the policies differ from what the step, or its undoing, left behind.
    @discardableResult
    public func carryOut(_ move: PolicyMove, of step: PolicyStep, later: [PolicyStep] = []) throws -> [ItemPolicy] {
        var gone: [ItemPolicy] = []
        let changes = move.direction == .undo ? step.changes.reversed().map(\.reversed) : step.changes
        for change in changes {
            switch (change.before, change.after) {
            case (nil, let after?): try addAgain(later.reduce(into: after) { $0.follow($1) }, move)
            case (let before?, nil):
                if let current = try policy(before.id) { try delete(current) } else { gone.append(before) }
            case (let before?, let after?): try set(change.fields, from: before, to: after, move)
            case (nil, nil): break
            }
        }
        try append(.move(move))
        access.notePoliciesChanged(runsTrigger: true)
        return gone
    }

    private func addAgain(_ policy: ItemPolicy, _ move: PolicyMove) throws {
        guard try self.policy(policy.id) == nil else {
            throw Failure(
                .badData,
                "\(move.cannot): the policy \(policy.id) would be added again, but there is now another policy with "
                    + "this id",
                hint: .removePolicy(policy.id))
        }
        _ = try insert(policy)
    }

    private func set(
        _ fields: [ItemPolicy.Field], from before: ItemPolicy, to after: ItemPolicy, _ move: PolicyMove
    ) throws {
        guard let current = try policy(before.id) else {
            throw Failure(
                .badData, "\(move.cannot): the policy \(before.id), which it changed, is gone",
                hint: .seePolicyInHistory)
        }
        var changed = current
        for field in fields {
            guard current.bytes(of: field) == before.bytes(of: field) else {
                throw Failure(
                    .badData, "\(move.cannot): `\(field.rawValue)` of the policy \(before.id) was changed since",
                    hint: .updatePolicyByHistory(before.id))
            }
            changed.take(field, from: after)
        }
        _ = try replace(current, with: changed)
    }

    /// The largest number of rows that are kept while the history cannot be written. Older rows are deleted.
    static let policyJournalLimit: Int64 = 1_000

    /// Removes the rows up to a number, which the history contains.
    public func removeChanges(through number: Int64) throws {
        let statement = try RawStatement(db, "DELETE FROM policyChanges WHERE number <= ?")
        statement.bind(1, number)
        try statement.run()
    }

    func append(_ entry: PolicyEntry) throws {
        let statement = try RawStatement(db, "INSERT INTO policyChanges (id, content) VALUES (?, ?)")
        statement.bind([.text(PolicyChangeID.random().text), .text(entry.json)])
        try statement.run()
        try removeChanges(through: insertedRow - Self.policyJournalLimit)
    }
}
