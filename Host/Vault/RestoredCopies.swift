public import Database
import Glibc
public import LocalTree
public import Model

/// The copies that the backup of a restored database knew. They are compared with the files that count as changed after
/// the restore. All functions block.
public struct RestoredCopies: Sendable {
    private let source: String
    private let database: Database
    private let tree: Tree

    /// Creates a value for a vault.
    /// - Parameters:
    ///   - vault: The absolute path of the vault.
    ///   - database: The vault's database.
    ///   - tree: The vault's tree.
    public init(vault: String, database: Database, tree: Tree) {
        source = "\(vault)/\(VaultRestore.source)"
        self.database = database
        self.tree = tree
    }

    /// Records each `locallyModified` file as a `localCopy` if its content is that of the version that the backup knew.
    /// - Returns: The ids of the other files that may still be unchanged copies: their size is that of the server's
    ///   version.
    /// - Throws: The `Failure` of the database or of the backup's copy.
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

    /// Removes the backup's copy from the vault.
    public func forget() { unlink(source) }

    /// Returns the key of an item: the server's id, or the path if the item has no such id and the path identifies it.
    private static func key(_ fileID: String?, _ path: ItemPath) -> String { fileID ?? "\u{0}" + path.text }

    private func knownVersions() throws -> [String: KnownCopy] {
        try DatabaseFile(path: source).knownCopies().reduce(into: [:]) { versions, copy in
            versions[Self.key(copy.fileID?.text, copy.path)] = copy
        }
    }
}
