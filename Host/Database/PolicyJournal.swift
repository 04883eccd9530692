import GRDB
public import Model

/// What happened to policies and is not in their history yet.
public struct PolicyJournalRow: Hashable, Sendable {
    /// Rises from row to row.
    public var number: Int64
    public var id: PolicyChangeID
    public var entry: PolicyEntry
}

extension DatabaseReads {
    /// The rows, oldest first.
    public func policyJournal(limit: Int) throws -> [PolicyJournalRow] {
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

    /// How many rows there are.
    public func policyJournalCount() throws -> Int {
        let statement = try RawStatement(db, "SELECT count(*) FROM policyChanges")
        defer { statement.reset() }
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }
}

extension Transaction {
    /// So many rows are kept while the history cannot be written; older ones go.
    static let policyJournalLimit: Int64 = 1_000

    /// Removes the rows up to a number, which the history has.
    public func removePolicyJournal(through number: Int64) throws {
        let statement = try RawStatement(db, "DELETE FROM policyChanges WHERE number <= ?")
        statement.bind(1, number)
        try statement.run()
    }

    func appendToPolicyJournal(_ entry: PolicyEntry) throws {
        let statement = try RawStatement(db, "INSERT INTO policyChanges (id, content) VALUES (?, ?)")
        statement.bind([.text(PolicyChangeID.random().text), .text(entry.json)])
        try statement.run()
        try removePolicyJournal(through: db.lastInsertedRowID - Self.policyJournalLimit)
    }
}
