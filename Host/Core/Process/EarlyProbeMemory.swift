import ItemPolicies
import PluginHost

/// Which libraries were tried, while the vault that remembers it may only be read: what is tried now is kept, and written to each
/// vault that is opened later.
actor EarlyProbeMemory: ProbeMemory {
    private struct Key: Hashable {
        var digest: [UInt8]
        var hostMinor: Int
    }

    private let before: DatabaseProbeMemory?
    private var tried: [Key: ProbedLibrary] = [:]

    /// - Parameter before: what a vault remembers; nil: nothing is known.
    init(_ before: DatabaseProbeMemory?) { self.before = before }

    func library(digest: [UInt8], hostMinor: Int) async throws -> ProbedLibrary? {
        if let library = tried[Key(digest: digest, hostMinor: hostMinor)] { return library }
        return try await before?.library(digest: digest, hostMinor: hostMinor)
    }

    func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) {
        tried[Key(digest: digest, hostMinor: hostMinor)] = library
    }

    /// Writes what was tried.
    func write(to memory: DatabaseProbeMemory) async throws {
        for (key, library) in tried { try await memory.remember(library, digest: key.digest, hostMinor: key.hostMinor) }
    }
}
