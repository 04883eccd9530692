public import Database
public import PluginHost

/// Remembers in a vault's database which libraries were opened in a child process.
public struct DatabaseProbeMemory: ProbeMemory {
    private let database: Database
    private let isReadOnly: Bool

    /// - Parameter isReadOnly: what is tried now is tried again the next time.
    public init(_ database: Database, isReadOnly: Bool = false) {
        self.database = database
        self.isReadOnly = isReadOnly
    }

    /// Reads what became of a library in this vault's tries.
    /// - Throws: As ``Database/read(_:)``.
    public func library(digest: [UInt8], hostMinor: Int) async throws -> ProbedLibrary? {
        try await database.read { try $0.plugins.probe(digest: digest, hostMinor: hostMinor) }
            .map { ProbedLibrary(refusal: $0) }
    }

    /// Remembers what became of a library, unless the vault is only read.
    /// - Throws: As ``Database/write(_:)``.
    public func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) async throws {
        guard !isReadOnly else { return }
        try await database.write { transaction in
            try transaction.plugins.rememberProbe(digest: digest, hostMinor: hostMinor, refusal: library.refusal)
        }
    }
}
