public import Database
import LocalTree
import Logging
public import Model

extension SyncEngine {
    /// Notes the account's address. What was asked for at another one is stopped, in one issue. What was stopped before,
    /// and was asked for at this address, goes on.
    /// - Parameter address: The address as it is told to a person, with the login name.
    /// - Returns: Whether the account had another address before.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    @discardableResult
    public func noteAddress(_ address: String) async throws -> Bool {
        try await OtherAddress(context: context).note(address)
    }

    /// Files an issue about an account that the server rejects: one issue, however many requests the server rejected.
    /// - Throws: As ``Database/write(_:)``. Neither the log nor the callback was told then.
    public func reportAccount(_ failure: Failure) async throws { try await context.failures.reportAccount(failure) }

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

    /// Tells by which claim a copy stays.
    /// - Returns: The claim as the end of a sentence, or nil if there is no claim.
    /// - Throws: As ``ClaimTable/of(_:)``.
    public func validClaim(of item: Item, in reads: some DatabaseReads) throws -> String? {
        try context.copies.validClaim(of: item, in: reads)
    }

    /// Tells why a copy that a person wanted to remove is still here.
    /// - Returns: The reason as the end of a sentence, or nil if nothing keeps the copy.
    /// - Throws: `.badData` if a policy's condition does not parse, `.internal` if a record or claim makes no sense, or
    ///   SQLite's error; see ``DatabaseReads``.
    public func reasonToStay(_ item: Item, in tx: Transaction) throws -> String? {
        try context.copies.reasonToStay(item, in: tx)
    }

    /// Removes the spent snapshots that no record names.
    public func removeSpentSnapshots() async { await context.snapshots.removeSpent() }
}

extension DatabaseReads {
    /// Returns the folders of copies that could not be read the last time.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func unreadableFolders() throws -> [ItemPath] {
        try issues.all(code: IssueCode.unreadable.rawValue).map { ItemPath(unchecked: $0.subject) }
    }
}
