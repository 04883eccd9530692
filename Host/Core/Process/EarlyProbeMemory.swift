import ItemPolicies
import PluginHost

/// A memory of tried libraries for the time while the vault that remembers them is open for reading only. It keeps the
/// libraries that are tried now and writes them to each vault that is opened later.
actor EarlyProbeMemory: ProbeMemory {
    private struct Key: Hashable {
        var digest: [UInt8]
        var hostMinor: Int
    }

    private let before: DatabaseProbeMemory?
    private var tried: [Key: ProbedLibrary] = [:]

    /// Creates a memory.
    /// - Parameter before: The memory of a vault; nil if nothing is known.
    init(_ before: DatabaseProbeMemory?) { self.before = before }

    func library(digest: [UInt8], hostMinor: Int) async throws -> ProbedLibrary? {
        if let library = tried[Key(digest: digest, hostMinor: hostMinor)] { return library }
        return try await before?.library(digest: digest, hostMinor: hostMinor)
    }

    func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) {
        tried[Key(digest: digest, hostMinor: hostMinor)] = library
    }

    /// Writes the tried libraries to a vault's memory.
    func write(to memory: DatabaseProbeMemory) async throws {
        for (key, library) in tried { try await memory.remember(library, digest: key.digest, hostMinor: key.hostMinor) }
    }
}
