public import Database
import LocalTree
import Logging
public import Model

/// Folders of copies that cannot be read. The rows of the files in such a folder stay as they are, and each such folder
/// is an issue until it can be read again.
extension SyncEngine {
    /// Files an issue for each folder that cannot be read, and removes the issues of folders that can be read again.
    /// - Parameters:
    ///   - folders: The folders that a comparison of tree and rows could not read, with the reasons.
    ///   - scopes: The folders that the comparison covered.
    /// - Throws: As ``Database/write(_:)``. No issue has changed then.
    public func reportUnreadable(_ folders: [ItemPath: String], at scopes: [ItemPath]) async throws {
        let code = IssueCode.unreadable
        let known = try await database.read { try $0.unreadableFolders() }
        let readable = known.filter { folder in
            folders[folder] == nil && scopes.contains { $0 == folder || $0.isAncestor(of: folder) }
        }
        let new = folders.filter { !known.contains($0.key) }
        guard !readable.isEmpty || !new.isEmpty else { return }
        try await database.write { [self] tx in
            for folder in readable { try tx.issues.remove(code: code.rawValue, subject: folder.text) }
            for (folder, reason) in new {
                let failure = Failure(
                    .failed,
                    "The folder \(folder) cannot be read: \(reason). Larder keeps the recorded state of its files",
                    hint: "Put the folder back, or make it readable: \(tree.localPath(of: folder))")
                logger.warning("\(failure)")
                try tx.issues.file(
                    Issue(
                        code: code.rawValue, subject: folder.text, message: failure.message, choices: code.choices,
                        created: clock.now(), failure: failure.kind))
            }
        }
    }
}

extension DatabaseReads {
    /// Returns the folders of copies that could not be read the last time.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func unreadableFolders() throws -> [ItemPath] {
        try issues.all(code: IssueCode.unreadable.rawValue).map { ItemPath(unchecked: $0.subject) }
    }
}
