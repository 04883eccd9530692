/// The name of a single value in the database.
public struct MetaKey: Hashable, Sendable {
    public let name: String
    public init(_ name: String) { self.name = name }

    /// The number of the last transaction that changed items.
    public static let anchor = MetaKey("anchor")
    /// The vault's id, which the tree's mark carries too.
    public static let vaultID = MetaKey("vaultID")
    /// The system's boot in which the vault was last opened for writing.
    public static let bootID = MetaKey("bootID")
}

extension DatabaseReads {
    /// Nil if it was never set, or is no number.
    public func metaInteger(_ key: MetaKey) throws -> Int64? {
        try meta(key) { $0.integer(0) } ?? nil
    }

    /// Nil if it was never set.
    public func metaText(_ key: MetaKey) throws -> String? {
        try meta(key) { $0.text(0) } ?? nil
    }

    private func meta<T>(_ key: MetaKey, _ read: (RawStatement) -> T) throws -> T? {
        let statement = try RawStatement(db, "SELECT value FROM meta WHERE key = ?")
        defer { statement.reset() }
        statement.bind(1, key.name)
        return try statement.step() ? read(statement) : nil
    }
}

extension Transaction {
    /// Sets a single value; null takes it away. One that is set already writes nothing, and so waits for no disk.
    public func setMeta(_ key: MetaKey, _ value: SQLValue) throws {
        let sql =
            value == .null
            ? "DELETE FROM meta WHERE key = ?"
            : """
            INSERT INTO meta (key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value IS NOT excluded.value
            """
        let statement = try RawStatement(db, sql)
        statement.bind(1, key.name)
        if value != .null { statement.bind(2, value) }
        try statement.run()
    }
}
