import Connection
import Database
import LocalTree
public import Model
import SyncEngine
import Threads
import Vault
import Warehouse

extension Accounts {
    /// Removes the local copies whose content the server is known to have, whatever keeps them here, and the folders
    /// that are empty then. Claimed copies stay. The command sends the server no request.
    public struct Purge: AccountCommand {
        public static let name = "account-purge"

        /// Creates the command.
        public init() {}

        public func carryOut(for host: AccountHost) async throws(Failure) -> PurgeOutcome {
            try await host.failing {
                try await host.recover()
                var outcome = PurgeOutcome()
                let copies = try await host.database.read { tx in
                    var listing = ItemListing(folder: .root, isRecursive: true)
                    (listing.leavesOut, listing.includesRemoved) = (.cloudOnly, true)
                    var ids: [LocalID] = []
                    try tx.items.each(listing) { item in
                        ids.append(item.localID)
                        return true
                    }
                    return ids
                }
                for batch in copies.batches(of: 500) {
                    let part = try await host.database.write { tx in
                        var part = PurgeOutcome()
                        for id in batch { try host.purge(id, &part, in: tx) }
                        return part
                    }
                    outcome.removed += part.removed
                    outcome.keep(part.kept)
                }
                outcome.keep(
                    try await runBlocking { () throws in
                        try host.vault.tree.syncRemovals()
                        return host.vault.tree.removeEmptyFolders(below: .root)
                    })
                outcome.keep(try await host.onlyHere())
                outcome.keep(try await host.unsent())
                return outcome
            }
        }
    }
}

/// What came of removing an account's local copies.
public struct PurgeOutcome: Codable, Sendable {
    /// The number of copies that were removed.
    public var removed = 0
    /// What stays: for each path, as the person finds it, the reason as the end of a sentence.
    public var kept: [String: String] = [:]

    fileprivate mutating func keep(_ more: [String: String]) { kept.merge(more) { first, _ in first } }
}

extension AccountHost {
    /// Closes the account and removes its vault, of which nothing is only here.
    /// - Returns: Whether nothing of the vault is left.
    /// - Throws: As ``Vault/erase()``.
    public func closeAndErase() async throws(Failure) -> Bool {
        defer { process.openFiles.close(bookmark.name) }
        await process.stopPlugins(plugins)
        await connection.shutdown()
        return try await failing { [vault] in try await runBlocking { try vault.erase() } }
    }

    fileprivate func purge(_ id: LocalID, _ outcome: inout PurgeOutcome, in tx: Transaction) throws {
        guard var item = try tx.items.item(localID: id), item.kind == .file, item.cloudStatus != .cloudOnly else {
            return
        }
        let path = vault.tree.localPath(of: item.path)
        var reason = try engine.validClaim(of: item, in: tx)
        if item.cloudStatus == .localOnly { reason = "exists only here" }
        if item.cloudStatus == .locallyModified { reason = "was changed here" }
        if try item.isRemoved || tx.scan.isMissing(item) { reason = "is no longer on the server" }
        if reason == nil, let copy = item.copy {
            switch try vault.tree.remove(at: item.path, known: copy) {
            case .removed, .nothingThere: break
            case .modified: reason = "was changed here"
            case .inUse: reason = "is open in another program"
            case .obstructed(let obstruction): reason = "has \(obstruction.text) in its place"
            }
        }
        if let reason {
            outcome.kept[path] = reason
            return
        }
        item.releaseCopy()
        try tx.items.updateLocal(item)
        outcome.removed += 1
    }

    /// Returns the snapshots of files that were to be uploaded.
    fileprivate func unsent() async throws -> [String: String] {
        let found = try await runBlocking { [bookmark] in try Snapshots.found(of: bookmark) }
        let reasons = found.snapshots.map { snapshot in
            ("\(found.folder)/\(snapshot.name)", "was to be uploaded\(snapshot.path.map { " to \($0)" } ?? "")")
        }
        return Dictionary(reasons) { first, _ in first }
    }

    /// Returns what the vault holds besides copies and that cannot be had anew: calendars' files that were changed here,
    /// and projects.
    fileprivate func onlyHere() async throws -> [String: String] {
        try await runBlocking { [vault, bookmark] in
            var found: [String: String] = [:]
            _ = try vault.calendars.complete()
            for issue in try vault.database.readBlocking({ try $0.issues.all(code: CalendarMirror.keptCode) }) {
                found["\(bookmark.vault)/calendars/\(issue.subject)"] = "was changed here"
            }
            let projects = "\(bookmark.vault)/projects"
            let storage = ProjectStorage(readingFrom: projects)
            for id in try storage.projectIDs(sortedBy: .creationDate, descending: false) {
                let owner = try storage.fetchProject(id, .stepIDs).bundleID
                if owner != PolicyHistory.bundleID { found["\(projects)/\(id)"] = "is a project of \(owner)" }
            }
            return found
        }
    }
}

extension Tree {
    /// Removes the empty folders below a folder.
    /// - Returns: The files that are left, with the reason, as the end of a sentence.
    fileprivate func removeEmptyFolders(below folder: ItemPath) -> [String: String] {
        var folders: [ItemPath] = []
        var left: [String: String] = [:]
        let isRead = eachEntry(of: folder) { name, kind, _ in
            let path = ItemPath(unchecked: (folder.isRoot ? "/" : folder.text + "/") + name)
            if kind == .folder { folders.append(path) } else { left[localPath(of: path)] = "exists only here" }
        }
        if !isRead { left[localPath(of: folder)] = "cannot be read" }
        for path in folders {
            left.merge(removeEmptyFolders(below: path)) { first, _ in first }
            do throws(Failure) {
                if try !removeFolderIfEmpty(path), left.isEmpty { left[localPath(of: path)] = "is not empty" }
            } catch {
                left[localPath(of: path)] = "cannot be removed"
            }
        }
        return left
    }
}
