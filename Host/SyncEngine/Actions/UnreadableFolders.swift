public import Database
import LocalTree
import Logging
public import Model

/// Folders of copies that cannot be looked into: what is known of the files in them stays as it is, and each is an issue until it
/// can be read again.
extension SyncEngine {
    /// Files an issue for each folder that cannot be looked into, and takes back those of folders that can be again.
    /// - Parameters:
    ///   - folders: Those that a comparison of tree and rows found, and why.
    ///   - scopes: Where it looked.
    /// - Throws: As ``Database/write(_:)``; no issue has changed then.
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
                    "The folder \(folder) cannot be looked into: \(reason). What is known of its files stays as it is",
                    hint: "Put it back, or see that it can be read: \(tree.localPath(of: folder))")
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
    /// The folders of copies that could not be looked into last.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func unreadableFolders() throws -> [ItemPath] {
        try issues.all(code: IssueCode.unreadable.rawValue).map { ItemPath(unchecked: $0.subject) }
    }
}
