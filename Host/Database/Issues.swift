import GRDB
public import Model

extension DatabaseReads {
    /// What waits for a person, the oldest first.
    /// - Parameter limit: Nil: all.
    public func issues(limit: Int? = nil) throws -> [Issue] { try issues(where: "1", limit: limit) }

    public func issue(id: Int64) throws -> Issue? { try issues(where: "id = ?", [.integer(id)]).first }

    /// The issue of this kind about this subject.
    public func issue(code: String, subject: String) throws -> Issue? {
        try issues(where: "code = ? AND subject = ?", [.text(code), .text(subject)]).first
    }

    /// All issues of a kind.
    public func issues(code: String) throws -> [Issue] { try issues(where: "code = ?", [.text(code)]) }

    public func issueCount() throws -> Int {
        let statement = try RawStatement(db, "SELECT count(*) FROM issues")
        defer { statement.reset() }
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    private func issues(where sql: String, _ arguments: [SQLValue] = [], limit: Int? = nil) throws -> [Issue] {
        let statement = try RawStatement(
            db,
            """
            SELECT issues.id, record, code, subject, message, created, failure, choice.value ->> 'id',
              choice.value ->> 'label', choice.value ->> 'impact'
            FROM (SELECT * FROM issues WHERE \(sql) ORDER BY id LIMIT \(limit ?? -1)) AS issues
              LEFT JOIN json_each(issues.choices) AS choice ORDER BY issues.id, choice.key
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        var issues: [Issue] = []
        while try statement.step() {
            guard let id = statement.integer(0) else { continue }
            if issues.last?.id != id { issues.append(Issue(statement, id: id)) }
            guard
                let choice = statement.text(7), let label = statement.text(8),
                let impact = statement.text(9).flatMap(Issue.Impact.init)
            else { continue }
            issues[issues.count - 1].choices.append(.init(id: choice, label: label, impact: impact))
        }
        return issues
    }
}

extension Transaction {
    /// Stores what waits for a person. One of the same code about the same subject is the same issue: it keeps its id and its
    /// age, and gets the new text, choices and record.
    /// - Returns: the issue as stored.
    @discardableResult
    public func file(_ issue: Issue) throws -> Issue {
        // SQLite writes the JSON, which it reads again.
        let choices = issue.choices.map { _ in "json_object('id', ?, 'label', ?, 'impact', ?)" }.joined(separator: ", ")
        let statement = try RawStatement(
            db,
            """
            INSERT INTO issues (record, code, subject, message, created, failure, choices)
            VALUES (?, ?, ?, ?, ?, ?, json_array(\(choices)))
            ON CONFLICT (code, subject) DO UPDATE SET
              record = excluded.record, message = excluded.message, failure = excluded.failure, choices = excluded.choices
            """)
        statement.bind([
            issue.record.map(SQLValue.integer) ?? .null, .text(issue.code), .text(issue.subject), .text(issue.message),
            .integer(issue.created.nanoseconds), .integer(Int64(issue.failure.rawValue)),
        ])
        let values = issue.choices.flatMap { [SQLValue.text($0.id), .text($0.label), .text($0.impact.rawValue)] }
        statement.bind(values, from: 7)
        try statement.run()
        noteIssuesChanged()
        guard let stored = try self.issue(code: issue.code, subject: issue.subject) else {
            throw Failure(.internal, "The issue \(issue.code) about \(issue.subject) was not stored")
        }
        return stored
    }

    /// Takes an issue away that was answered or is none any more.
    /// - Returns: whether there was one.
    @discardableResult
    public func deleteIssue(id: Int64) throws -> Bool {
        let statement = try RawStatement(db, "DELETE FROM issues WHERE id = ?")
        statement.bind(1, id)
        try statement.run()
        if db.changesCount > 0 { noteIssuesChanged() }
        return db.changesCount > 0
    }

    /// Withdraws the issues of this kind about paths that no item has any more.
    public func deleteIssuesOfGonePaths(code: String) throws {
        let sql = """
            DELETE FROM issues WHERE code = ?
              AND NOT EXISTS (SELECT 1 FROM items WHERE items.path = issues.subject AND items.removedAt IS NULL)
            """
        try db.cachedStatement(sql: sql).execute(arguments: [code])
        if db.changesCount > 0 { noteIssuesChanged() }
    }

    /// Withdraws the issue of this kind about this subject.
    /// - Returns: whether there was one.
    @discardableResult
    public func deleteIssue(code: String, subject: String) throws -> Bool {
        guard let issue = try issue(code: code, subject: subject) else { return false }
        return try deleteIssue(id: issue.id)
    }
}

extension Issue {
    /// Without its choices.
    fileprivate init(_ row: RawStatement, id: Int64) {
        self.init(
            id: id, record: row.integer(1), code: row.text(2) ?? "", subject: row.text(3) ?? "",
            message: row.text(4) ?? "", choices: [], created: Timestamp(nanoseconds: row.integer(5) ?? 0),
            failure: row.integer(6).flatMap { Failure.Kind(rawValue: Int32(clamping: $0)) } ?? .failed)
    }
}
