public import Database
import Glibc
public import LocalTree
public import Model

/// What a restored database's backup knew of the copies, for those that are not where it knew them. It blocks.
public struct RestoredCopies: Sendable {
    private let source: String
    private let database: Database
    private let tree: Tree

    public init(vault: String, database: Database, tree: Tree) {
        source = "\(vault)/\(VaultRestore.source)"
        self.database = database
        self.tree = tree
    }

    /// Takes each file that counts as changed here for a copy if its bytes are those of a version that the backup knew.
    /// - Returns: those that may be one nevertheless: they are as long as the server's.
    /// - Throws: The `Failure` of the database, or of the backup's copy.
    public func adopt() throws -> [LocalID] {
        let changed = try database.readBlocking { try $0.items.changedFiles() }
        guard !changed.isEmpty else { return [] }
        let versions = access(source, F_OK) == 0 ? try knownVersions() : [:]
        var unknown: [LocalID] = []
        for item in changed {
            let version = versions[Self.key(item.fileID?.text, item.path)]
            if let version, let mark = tree.mark(at: item.path, ifDigest: version.digest) {
                try database.writeBlocking { tx in
                    guard var now = try tx.items.item(localID: item.localID), now.path == item.path,
                        now.cloudStatus == .locallyModified
                    else { return }
                    now.cloudStatus = .localCopy
                    now.copy = LocalCopy(etag: version.etag, digest: version.digest, mark: mark)
                    now.downloadTrigger = now.downloadTrigger ?? version.trigger ?? .user
                    try tx.items.updateLocal(now)
                }
            } else if let size = item.size, tree.mark(at: item.path)?.size == size {
                unknown.append(item.localID)
                try database.writeBlocking { tx in
                    guard var now = try tx.items.item(localID: item.localID), now.downloadTrigger == nil else { return }
                    now.downloadTrigger = version?.trigger ?? .user
                    try tx.items.updateLocal(now)
                }
            }
        }
        return unknown
    }

    /// Removes the backup's copy.
    public func forget() { unlink(source) }

    /// By the server's id; without one by the path, which is the identity then.
    private static func key(_ fileID: String?, _ path: ItemPath) -> String { fileID ?? "\u{0}" + path.text }

    private func knownVersions() throws -> [String: KnownCopy] {
        try DatabaseFile(path: source).knownCopies().reduce(into: [:]) { versions, copy in
            versions[Self.key(copy.fileID?.text, copy.path)] = copy
        }
    }
}
