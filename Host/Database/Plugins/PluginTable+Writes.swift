public import Model

/// The writes that concern plugins.
extension PluginTable where Access == Transaction {
    /// Stores a plugin's value and replaces any that the plugin has under this key.
    public func setValue(of plugin: PluginID, key: [UInt8], _ value: [UInt8]) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO pluginValues (plugin, key, value) VALUES (?, ?, ?)")
        statement.bind([.text(plugin.text), .blob(key), .blob(value)])
        try statement.run()
    }

    /// Removes a plugin's value, if there is one.
    public func removeValue(of plugin: PluginID, key: [UInt8]) throws {
        let statement = try RawStatement(db, "DELETE FROM pluginValues WHERE plugin = ? AND key = ?")
        statement.bind([.text(plugin.text), .blob(key)])
        try statement.run()
    }

    /// Remembers the result of opening a library in a child process.
    /// - Parameters:
    ///   - digest: The SHA-256 of the library, 32 bytes.
    ///   - refusal: The reason why the library must not be opened; nil if the library described itself.
    public func rememberProbe(digest: [UInt8], hostMinor: Int, refusal: String?) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO probedLibraries (digest, hostMinor, refusal) VALUES (?, ?, ?)")
        statement.bind([.blob(digest), .integer(Int64(hostMinor)), refusal.map(SQLValue.text) ?? .null])
        try statement.run()
    }
}
