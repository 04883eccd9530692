import Glibc
package import Model

/// A folder that several owners keep open. It is closed when the last of them is gone.
package final class OpenFolder: Sendable {
    private let descriptor: Descriptor

    package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    package var number: Int32 { descriptor.number }

    /// Returns the status of the folder; nil with `errno` on failure.
    func status() -> stat? { descriptor.status() }
}

/// The folders of a tree's files that are on their way: `incoming/`, and `outgoing/` beside it.
///
/// They are opened when they are needed, so that an account at rest has no descriptor for them.
///
///     let staging = StagingFolders(below: vault, in: "")
///     let incoming = try staging.openIncoming()
package struct StagingFolders: Sendable {
    private let base: OpenFolder
    private let prefix: String

    /// Names the folders.
    /// - Parameters:
    ///   - base: A folder above them, which is kept open.
    ///   - prefix: The path of the folder that they lie in, seen from `base`, with a slash at its end; empty if they lie
    ///     in `base`.
    package init(below base: OpenFolder, in prefix: String) { (self.base, self.prefix) = (base, prefix) }

    /// Opens `incoming/`.
    /// - Throws: `.localIO` if it is missing, or too many files are open.
    package func openIncoming() throws(Failure) -> Descriptor {
        let folder = incoming()
        guard folder.number >= 0 else { throw .system("opening \(prefix)incoming", errno) }
        return folder
    }

    /// Opens `incoming/`.
    /// - Returns: A descriptor; below 0, with `errno`, on failure.
    func incoming() -> Descriptor { open("\(prefix)incoming") }

    /// Opens `outgoing/`, and makes it if it is missing.
    /// - Returns: A descriptor; below 0, with `errno`, on failure.
    func outgoing() -> Descriptor {
        let path = "\(prefix)outgoing"
        let folder = open(path)
        guard folder.number < 0, errno == ENOENT else { return folder }
        _ = mkdirat(base.number, path, 0o700)
        return open(path)
    }

    private func open(_ path: String) -> Descriptor {
        Descriptor(openBeneath(base.number, path, O_RDONLY | O_DIRECTORY))
    }
}
