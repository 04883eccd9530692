public import Model

/// The issues, which wait for a person.
public struct IssueTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the issues, the oldest first.
    /// - Parameter limit: The largest number of issues; nil for all.
    public func all(limit: Int? = nil) throws -> [Issue] { try issues(where: "1", limit: limit) }

    /// Returns an issue; nil if there is none with this id.
    public func issue(id: IssueID) throws -> Issue? { try issues(where: "id = ?", [.id(id)]).first }

    /// Returns the issue with this code and subject; nil if there is none.
    public func issue(code: String, subject: String) throws -> Issue? {
        try issues(where: "code = ? AND subject = ?", [.text(code), .text(subject)]).first
    }

    /// Returns all issues with this code.
    public func all(code: String) throws -> [Issue] { try issues(where: "code = ?", [.text(code)]) }

    /// Returns the number of issues.
    public func count() throws -> Int { Int(try integer("SELECT count(*) FROM issues") ?? 0) }

    /// Returns the number of issues with this code.
    public func count(code: String) throws -> Int {
        Int(try integer("SELECT count(*) FROM issues WHERE code = ?", .text(code)) ?? 0)
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
            let id: IssueID = statement.id(0)
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

extension DatabaseReads {
    /// The issues, which wait for a person.
    public var issues: IssueTable<Self> { IssueTable(access: self) }
}

extension Issue {
    /// Creates an issue without its choices.
    init(_ row: RawStatement, id: IssueID) {
        self.init(
            id: id, record: row.integer(1).map(SyncRecordID.init), code: row.text(2) ?? "", subject: row.text(3) ?? "",
            message: row.text(4) ?? "", choices: [], created: Timestamp(nanoseconds: row.integer(5) ?? 0),
            failure: row.integer(6).flatMap { Failure.Kind(rawValue: Int32(clamping: $0)) } ?? .failed)
    }
}
