import GRDB

extension DatabaseReads {
    /// Whether a library with these bytes was opened in a child process before, for this minor version of the ABI.
    /// - Parameter digest: SHA-256, 32 bytes.
    /// - Returns: nil if it was not; else why it must not be opened, or nil inside if it described itself.
    public func probedLibrary(digest: [UInt8], hostMinor: Int) throws -> String?? {
        let statement = try RawStatement(db, "SELECT refusal FROM probedLibraries WHERE digest = ? AND hostMinor = ?")
        defer { statement.reset() }
        statement.bind([.blob(digest), .integer(Int64(hostMinor))])
        return try statement.step() ? .some(statement.text(0)) : nil
    }
}

extension Transaction {
    /// Remembers what became of a library in the child process.
    /// - Parameters:
    ///   - digest: SHA-256, 32 bytes.
    ///   - refusal: nil: it described itself.
    public func rememberProbe(digest: [UInt8], hostMinor: Int, refusal: String?) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO probedLibraries (digest, hostMinor, refusal) VALUES (?, ?, ?)")
        statement.bind([.blob(digest), .integer(Int64(hostMinor)), refusal.map(SQLValue.text) ?? .null])
        try statement.run()
    }
}
