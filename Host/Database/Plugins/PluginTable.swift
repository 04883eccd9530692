public import Model

/// The values that plugins store, and the results of opening libraries in a child process.
public struct PluginTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the value that a plugin stored under a key of its own; nil if there is none.
    public func value(of plugin: PluginID, key: [UInt8]) throws -> [UInt8]? {
        let statement = try RawStatement(db, "SELECT value FROM pluginValues WHERE plugin = ? AND key = ?")
        defer { statement.reset() }
        statement.bind([.text(plugin.text), .blob(key)])
        return try statement.step() ? statement.blob(0) : nil
    }

    /// Returns the size in bytes of a plugin's value with its key, or of all of the plugin's values; 0 if there is none.
    /// - Parameter key: The key; nil for all.
    public func valueSize(of plugin: PluginID, key: [UInt8]?) throws -> Int64 {
        let statement = try RawStatement(
            db,
            "SELECT ifnull(sum(length(key) + length(value)), 0) FROM pluginValues WHERE plugin = ?"
                + (key == nil ? "" : " AND key = ?"))
        defer { statement.reset() }
        statement.bind([.text(plugin.text)] + (key.map { [.blob($0)] } ?? []))
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Reads the values of a plugin one after the other, by key, byte by byte.
    /// - Parameter body: A function that receives each value and returns false to end early.
    /// - Throws: What `body` throws.
    public func eachValue(of plugin: PluginID, _ body: (KeptValue) throws -> Bool) throws {
        let statement = try RawStatement(db, "SELECT key, value FROM pluginValues WHERE plugin = ? ORDER BY key")
        defer { statement.reset() }
        statement.bind(1, plugin.text)
        while try statement.step() {
            guard try body(KeptValue(key: statement.blob(0) ?? [], value: statement.blob(1) ?? [])) else { return }
        }
    }

    /// Returns the remembered result of opening a library with this digest in a child process, for this minor version
    /// of the ABI.
    /// - Parameter digest: The SHA-256 of the library, 32 bytes.
    /// - Returns: Nil if no result is remembered. Otherwise the reason why the library must not be opened, or an inner
    ///   nil if the library described itself.
    public func probe(digest: [UInt8], hostMinor: Int) throws -> String?? {
        let statement = try RawStatement(db, "SELECT refusal FROM probedLibraries WHERE digest = ? AND hostMinor = ?")
        defer { statement.reset() }
        statement.bind([.blob(digest), .integer(Int64(hostMinor))])
        return try statement.step() ? .some(statement.text(0)) : nil
    }
}

extension DatabaseReads {
    /// The values that plugins store, and the results of opening libraries in a child process.
    public var plugins: PluginTable<Self> { PluginTable(access: self) }
}
