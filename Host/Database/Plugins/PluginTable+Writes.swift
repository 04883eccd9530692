public import Model

/// What a transaction writes of plugins.
extension PluginTable where Access == Transaction {
    /// Stores a plugin's value in place of any that it has under this key.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func setValue(of plugin: PluginID, key: [UInt8], _ value: [UInt8]) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO pluginValues (plugin, key, value) VALUES (?, ?, ?)")
        statement.bind([.text(plugin.text), .blob(key), .blob(value)])
        try statement.run()
    }

    /// Takes a plugin's value away, if there is one.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func removeValue(of plugin: PluginID, key: [UInt8]) throws {
        let statement = try RawStatement(db, "DELETE FROM pluginValues WHERE plugin = ? AND key = ?")
        statement.bind([.text(plugin.text), .blob(key)])
        try statement.run()
    }

    /// Remembers what became of a library in the child process.
    /// - Parameters:
    ///   - digest: SHA-256, 32 bytes.
    ///   - refusal: nil: it described itself.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func rememberProbe(digest: [UInt8], hostMinor: Int, refusal: String?) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO probedLibraries (digest, hostMinor, refusal) VALUES (?, ?, ?)")
        statement.bind([.blob(digest), .integer(Int64(hostMinor)), refusal.map(SQLValue.text) ?? .null])
        try statement.run()
    }
}
