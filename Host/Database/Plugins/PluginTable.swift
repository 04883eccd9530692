public import Model

/// What plugins store of their own, and which libraries were tried.
public struct PluginTable<Access: DatabaseReads>: Table {
    let access: Access

    /// What a plugin stored under a key of its own; nil if nothing.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func value(of plugin: PluginID, key: [UInt8]) throws -> [UInt8]? {
        let statement = try RawStatement(db, "SELECT value FROM pluginValues WHERE plugin = ? AND key = ?")
        defer { statement.reset() }
        statement.bind([.text(plugin.text), .blob(key)])
        return try statement.step() ? statement.blob(0) : nil
    }

    /// Whether a library with these bytes was opened in a child process before, for this minor version of the ABI.
    /// - Parameter digest: SHA-256, 32 bytes.
    /// - Returns: nil if it was not; else why it must not be opened, or nil inside if it described itself.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func probe(digest: [UInt8], hostMinor: Int) throws -> String?? {
        let statement = try RawStatement(db, "SELECT refusal FROM probedLibraries WHERE digest = ? AND hostMinor = ?")
        defer { statement.reset() }
        statement.bind([.blob(digest), .integer(Int64(hostMinor))])
        return try statement.step() ? .some(statement.text(0)) : nil
    }
}

extension DatabaseReads {
    /// What plugins store of their own, and which libraries were tried.
    public var plugins: PluginTable<Self> { PluginTable(access: self) }
}
