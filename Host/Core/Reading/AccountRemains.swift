import Database
public import Model
import Threads
import Vault

/// What is left on this machine of an account that is taken out of the config.
public struct AccountRemains: Sendable {
    /// Whether the account has a database. Without one, nothing was ever fetched.
    public var hasDatabase = false
    /// The number of files with a copy of a version of the server's.
    public var localCopies: Int64 = 0
    /// The total size of these copies, in bytes.
    public var localBytes: Int64 = 0
    /// The number of files and folders that were changed or made here, as far as it was noticed.
    public var onlyHere: Int64 = 0
    /// The changes that are queued and that the server was not asked for, or has not answered.
    public var changes: [QueuedChange] = []
    /// The snapshots of files that were to be uploaded, by their paths.
    public var snapshots: [String: FoundSnapshot] = [:]

    /// Tells whether an account has a vault with a database.
    public static func exist(_ bookmark: Bookmark) -> Bool { Vault.exists(at: bookmark.vault) }

    /// Tells whether a process has an account's vault open.
    public static func areInUse(_ bookmark: Bookmark) -> Bool { Vault.isInUse(at: bookmark.vault) }

    /// Forgets how far the account's loops had come. What they cached stays. A vault that cannot be opened stays as it
    /// is.
    /// - Throws: `.vaultLocked` while a process has the vault open.
    public static func logOut(_ bookmark: Bookmark) async throws(Failure) {
        guard exist(bookmark) else { return }
        do {
            let vault = try await runBlocking { try Vault.open(at: bookmark.vault, files: bookmark.files) }
            try await vault.database.write { try $0.loops.dropEventIDs() }
            try vault.close()
        } catch {
            let failure = Failure(of: error)
            if failure.kind == .vaultLocked { throw failure }
        }
    }

    /// Reads what is left of an account.
    /// - Throws: `.vaultLocked` while a host has the vault open, `.localIO` if the database cannot be read.
    public static func of(_ bookmark: Bookmark) async throws(Failure) -> AccountRemains {
        guard !Vault.isInUse(at: bookmark.vault) else {
            throw Failure(
                .vaultLocked, "The vault \(bookmark.vault) is in use by a running Larder",
                hint: "Stop it; then the account can be removed")
        }
        let reader: AccountReader
        do throws(Failure) {
            reader = try AccountReader.open(bookmark)
        } catch {
            guard error.kind == .notFound else { throw error }
            return AccountRemains()
        }
        let (counts, changes) = try await reader.close { reader throws(Failure) in
            try await reader.read { reads in
                (try reads.items.counts(), try reads.journal.changes(after: .none).map { QueuedChange($0) })
            }
        }
        let found = try Snapshots.found(of: bookmark)
        return AccountRemains(
            hasDatabase: true, localCopies: counts.here.localCopies, localBytes: counts.here.localBytes,
            onlyHere: counts.here.locallyChanged, changes: changes,
            snapshots: Dictionary(found.snapshots.map { ("\(found.folder)/\($0.name)", $0) }) { first, _ in first })
    }
}
