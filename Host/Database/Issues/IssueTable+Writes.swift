public import Model

/// The writes that concern issues.
extension IssueTable where Access == Transaction {
    /// Stores an issue. An issue with the same code and subject is the same issue: it keeps its id and its time of
    /// creation, and gets the new text, failure, choices and record.
    /// - Returns: The issue as stored.
    /// - Throws: `.internal` if the issue cannot be read back.
    @discardableResult
    public func file(_ issue: Issue) throws -> Issue {
        // SQLite builds the JSON, since SQLite also parses it.
        let choices = issue.choices.map { _ in "json_object('id', ?, 'label', ?, 'impact', ?)" }.joined(separator: ", ")
        let statement = try RawStatement(
            db,
            """
            INSERT INTO issues (record, code, subject, message, created, failure, choices)
            VALUES (?, ?, ?, ?, ?, ?, json_array(\(choices)))
            ON CONFLICT (code, subject) DO UPDATE SET
              record = excluded.record, message = excluded.message, failure = excluded.failure,
              choices = excluded.choices
            """)
        statement.bind([
            .id(issue.record), .text(issue.code), .text(issue.subject), .text(issue.message),
            .integer(issue.created.nanoseconds), .integer(Int64(issue.failure.rawValue)),
        ])
        let values = issue.choices.flatMap { [SQLValue.text($0.id), .text($0.label), .text($0.impact.rawValue)] }
        statement.bind(values, from: 7)
        try statement.run()
        access.noteIssuesChanged()
        guard let stored = try self.issue(code: issue.code, subject: issue.subject) else {
            throw Failure(.internal, "The issue \(issue.code) about \(issue.subject) was not stored")
        }
        return stored
    }

    /// Removes an issue that was answered or no longer applies.
    /// - Returns: Whether there was such an issue.
    @discardableResult
    public func remove(id: IssueID) throws -> Bool {
        let statement = try RawStatement(db, "DELETE FROM issues WHERE id = ?")
        statement.bind(1, id)
        try statement.run()
        if changedRows > 0 { access.noteIssuesChanged() }
        return changedRows > 0
    }

    /// Removes the issues with this code whose subject is a path that no item has any more.
    public func removeOfGonePaths(code: String) throws {
        let statement = try RawStatement(
            db,
            """
            DELETE FROM issues WHERE code = ?
              AND NOT EXISTS (SELECT 1 FROM items WHERE items.path = issues.subject AND items.removedAt IS NULL)
            """)
        statement.bind(1, code)
        try statement.run()
        if changedRows > 0 { access.noteIssuesChanged() }
    }

    /// Removes the issue with this code and subject.
    /// - Returns: Whether there was such an issue.
    @discardableResult
    public func remove(code: String, subject: String) throws -> Bool {
        let found: [IssueID] = try ids(
            "SELECT id FROM issues WHERE code = ? AND subject = ?", .text(code), .text(subject))
        guard let id = found.first else { return false }
        return try remove(id: id)
    }
}
