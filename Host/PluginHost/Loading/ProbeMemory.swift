/// A memory of libraries that were opened in a child process.
///
/// A library is remembered by the SHA-256 of its bytes. A library that did no harm is also remembered by the SHA-256 of
/// its file's inode, size and times.
public protocol ProbeMemory: Sendable {
    /// Returns the remembered result of a library.
    /// - Parameters:
    ///   - digest: The SHA-256 of the library's bytes, or of its file's mark.
    ///   - hostMinor: The minor version of the host's ABI.
    /// - Returns: nil if these bytes or this file were not tried with this minor version.
    /// - Throws: The error that prevents reading. The library is tried then.
    func library(digest: [UInt8], hostMinor: Int) async throws -> ProbedLibrary?
    /// Remembers the result of a library.
    /// - Parameters:
    ///   - library: The result.
    ///   - digest: The SHA-256 of the library's bytes, or of its file's mark.
    ///   - hostMinor: The minor version of the host's ABI.
    /// - Throws: The error that prevents writing. The library is tried again at the next start then.
    func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) async throws
}

/// The result of opening a library in the child process.
public struct ProbedLibrary: Hashable, Sendable {
    /// The reason why the library must not be opened again; nil if it described itself.
    public var refusal: String?

    /// Creates a result.
    public init(refusal: String?) { self.refusal = refusal }
}
