public import Database
public import PluginHost

/// A memory, in a vault's database, of the libraries that were opened in a child process.
public struct DatabaseProbeMemory: ProbeMemory {
    private let database: Database
    private let isReadOnly: Bool

    /// Creates a memory.
    /// - Parameters:
    ///   - database: The vault's database.
    ///   - isReadOnly: Whether the memory writes nothing. A library that is tried now is then tried again the next
    ///     time.
    public init(_ database: Database, isReadOnly: Bool = false) {
        self.database = database
        self.isReadOnly = isReadOnly
    }

    /// Returns the result of the vault's trial of a library; nil if the library was not tried.
    /// - Parameters:
    ///   - digest: The digest of the library.
    ///   - hostMinor: The minor version of the host's ABI.
    /// - Throws: As ``Database/read(_:)``.
    public func library(digest: [UInt8], hostMinor: Int) async throws -> ProbedLibrary? {
        try await database.read { try $0.plugins.probe(digest: digest, hostMinor: hostMinor) }
            .map { ProbedLibrary(refusal: $0) }
    }

    /// Remembers the result of a library's trial, unless the vault is open for reading only.
    /// - Parameters:
    ///   - library: The result.
    ///   - digest: The digest of the library.
    ///   - hostMinor: The minor version of the host's ABI.
    /// - Throws: As ``Database/write(_:)``.
    public func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) async throws {
        guard !isReadOnly else { return }
        try await database.write { transaction in
            try transaction.plugins.rememberProbe(digest: digest, hostMinor: hostMinor, refusal: library.refusal)
        }
    }
}
