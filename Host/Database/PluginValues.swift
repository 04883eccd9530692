import GRDB
public import Model

extension DatabaseReads {
    /// What a plugin stored under a key of its own; nil if nothing.
    public func pluginValue(of plugin: PluginID, key: [UInt8]) throws -> [UInt8]? {
        let statement = try RawStatement(db, "SELECT value FROM pluginValues WHERE plugin = ? AND key = ?")
        defer { statement.reset() }
        statement.bind([.text(plugin.text), .blob(key)])
        return try statement.step() ? statement.blob(0) : nil
    }
}

extension Transaction {
    /// Stores a plugin's value in place of any that it has under this key.
    public func setPluginValue(of plugin: PluginID, key: [UInt8], _ value: [UInt8]) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO pluginValues (plugin, key, value) VALUES (?, ?, ?)")
        statement.bind([.text(plugin.text), .blob(key), .blob(value)])
        try statement.run()
    }

    /// Takes a plugin's value away, if there is one.
    public func removePluginValue(of plugin: PluginID, key: [UInt8]) throws {
        let statement = try RawStatement(db, "DELETE FROM pluginValues WHERE plugin = ? AND key = ?")
        statement.bind([.text(plugin.text), .blob(key)])
        try statement.run()
    }
}
