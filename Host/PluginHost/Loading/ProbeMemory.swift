/// What is remembered of libraries that were opened in a child process, by the SHA-256 of their bytes, and, of those that did no
/// harm, by that of their file's inode, size and times.
public protocol ProbeMemory: Sendable {
    /// Tells what is remembered of a library.
    /// - Returns: nil if these bytes, or this file, were not tried with this minor version of the host's ABI.
    /// - Throws: What keeps it from being read; the library is tried then.
    func library(digest: [UInt8], hostMinor: Int) async throws -> ProbedLibrary?
    /// Remembers what became of a library.
    /// - Throws: What keeps it from being written; the library is tried again at the next start then.
    func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) async throws
}

/// What became of a library in the child process.
public struct ProbedLibrary: Hashable, Sendable {
    /// Nil: it described itself; else why it must not be opened again.
    public var refusal: String?

    public init(refusal: String?) { self.refusal = refusal }
}
