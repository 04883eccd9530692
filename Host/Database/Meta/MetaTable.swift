public import Model

/// The name of a single value in the database.
public struct MetaKey: Hashable, Sendable {
    /// The text of the name.
    public let name: String
    /// Creates a name.
    public init(_ name: String) { self.name = name }

    /// The number of the last transaction that changed items.
    public static let anchor = MetaKey("anchor")
    /// The highest number that was given to an item's row.
    static let lastItemRow = MetaKey("lastItemRow")
    /// The vault's id, which the tree's mark contains too.
    public static let vaultID = MetaKey("vaultID")
    /// The system's boot in which the vault was last opened for writing.
    public static let bootID = MetaKey("bootID")
}

/// Single values, such as the vault's id, the anchor, and properties of the server.
public struct MetaTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns a number; nil if it was never set.
    public func integer(_ key: MetaKey) throws -> Int64? { try value(key) { $0.integer(0) } ?? nil }

    /// Returns a time, which is stored as nanoseconds since 1970; nil if it was never set.
    public func time(_ key: MetaKey) throws -> Timestamp? {
        try integer(key).map(Timestamp.init(nanoseconds:))
    }

    /// Returns a text; nil if it was never set.
    public func text(_ key: MetaKey) throws -> String? { try value(key) { $0.text(0) } ?? nil }

    private func value<Value>(_ key: MetaKey, _ read: (RawStatement) -> Value) throws -> Value? {
        try row("SELECT value FROM meta WHERE key = ?", [.text(key.name)], read)
    }
}

/// The writes of single values. A value that is already set is not written again, so that the commit does not wait for
/// the disk.
extension MetaTable where Access == Transaction {
    /// Sets a number.
    public func set(_ key: MetaKey, _ number: Int64) throws { try set(key, .integer(number)) }
    /// Sets a text.
    public func set(_ key: MetaKey, _ text: String) throws { try set(key, .text(text)) }
    /// Sets a time, stored as nanoseconds since 1970.
    public func set(_ key: MetaKey, _ time: Timestamp) throws { try set(key, .time(time)) }

    private func set(_ key: MetaKey, _ value: SQLValue) throws {
        try run(
            """
            INSERT INTO meta (key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value IS NOT excluded.value
            """, .text(key.name), value)
    }

    /// Removes a value, if it is set.
    public func clear(_ key: MetaKey) throws { try run("DELETE FROM meta WHERE key = ?", .text(key.name)) }
}

extension DatabaseReads {
    /// Single values.
    public var meta: MetaTable<Self> { MetaTable(access: self) }
}
