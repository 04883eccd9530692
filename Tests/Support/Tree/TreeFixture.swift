import Digests
import Glibc
package import LocalTree
package import Model
import Synchronization
import TestSupport

/// The file systems on which the tests put a tree: that of `/tmp`, and memory.
package let testedFolders = ["/tmp", "/dev/shm"]

/// A tree with its `incoming/`, on a chosen file system.
package struct TreeFixture {
    /// The path of the tree's root folder.
    package let root: String
    /// The path of the folder of incoming files.
    package let incoming: String
    package let tree: Tree

    /// Gives `body` a new tree, and removes the tree afterwards.
    package static func with<Result>(
        on parent: String = "/tmp", hooks: TreeHooks = TreeHooks(),
        clock: @escaping @Sendable () -> Timestamp = { .now() },
        isolation: isolated (any Actor)? = #isolation, _ body: (TreeFixture) async throws -> Result
    ) async throws -> Result {
        let folder = try temporary(on: parent)
        defer { Files.remove(folder) }
        return try await body(try make(in: folder, hooks: hooks, clock: clock))
    }

    /// Gives `body`, which does not suspend, a new tree, and removes the tree afterwards.
    package static func with<Result>(
        on parent: String = "/tmp", hooks: TreeHooks = TreeHooks(),
        clock: @escaping @Sendable () -> Timestamp = { .now() },
        _ body: (TreeFixture) throws -> Result
    ) throws -> Result {
        let folder = try temporary(on: parent)
        defer { Files.remove(folder) }
        return try body(try make(in: folder, hooks: hooks, clock: clock))
    }

    /// Makes a tree in a folder that the caller removes.
    package static func make(
        in folder: String, hooks: TreeHooks = TreeHooks(), clock: @escaping @Sendable () -> Timestamp = { .now() }
    ) throws -> TreeFixture {
        try Files.makeFolder(folder + "/files")
        try Files.makeFolder(folder + "/incoming")
        let root = OpenFolder(Descriptor(open(folder + "/files", O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
        let vault = OpenFolder(Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
        let tree = Tree(
            root: folder + "/files", folder: root, staging: StagingFolders(below: vault, in: ""),
            reservesDotLarder: false, clock: clock, hooks: hooks)
        return TreeFixture(root: folder + "/files", incoming: folder + "/incoming", tree: tree)
    }

    private static func temporary(on parent: String) throws -> String {
        var template = Array("\(parent)/larder-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SetupError("mkdtemp in \(parent)") }
        let path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        chmod(path, 0o755)
        return path
    }

    /// Returns an item's path from its text, which is not checked.
    package func path(_ text: String) -> ItemPath { ItemPath(unchecked: text) }

    /// Makes a complete download with this content.
    package func complete(
        _ content: String, name: String = "1-a", modified: Timestamp? = Timestamp(seconds: 1_600_000_000)
    ) throws
        -> CompletedFile
    {
        let file = try tree.incomingFile(name)
        try file.restart()
        var content = content
        try content.withUTF8 { try file.append(UnsafeRawBufferPointer($0)) }
        return try file.finish(modified: modified)
    }

    /// Places a copy whose mark is no proof yet.
    package func place(_ content: String, at text: String, etag: String = "1") throws -> LocalCopy {
        let file = try complete(content)
        guard case .placed(let mark) = try tree.place(file, at: path(text), replacing: nil) else {
            throw SetupError("nothing was placed at \(text)")
        }
        return LocalCopy(etag: ETag(opaque: etag, strength: .strong), digest: file.digest, mark: mark)
    }

    /// Returns the copy with a mark that is proof, as if the mark had been renewed later.
    package func settled(_ copy: LocalCopy) -> LocalCopy {
        var copy = copy
        copy.mark.recorded = copy.mark.changed + .seconds(1)
        return copy
    }

    /// Returns the content of the file at a path in the tree; nil if the file cannot be read.
    package func content(_ text: String) -> String? { try? Files.text(root + text) }
    /// The names of the files that are left in `incoming/`.
    package var leftInIncoming: [String] { (try? Files.names(in: incoming)) ?? [] }
}

/// Returns the SHA-256 digest of a text.
package func sha256(_ text: String) -> [UInt8] { MessageDigest.of(Array(text.utf8)) }
