import Database
import LocalTree
import Logging
public import Model
import Threads
import Vault

extension AccountHost {
    /// The interval between checks whether a backup is due.
    static let backupCheck = Duration.seconds(3600)

    /// Makes a backup of the database each day, until the task is cancelled.
    /// - Throws: A `Failure` if the database turns out to be damaged. Nothing goes on with a damaged database.
    func keepBackups() async throws {
        while true {
            try await backUp()
            try await clock.sleep(Self.backupCheck)
        }
    }

    /// Makes a backup of the database if there is none from the last day. The log names the reason if no backup can be
    /// made; apart from damage to the database, that is not an error.
    /// - Throws: A `Failure` if the database turns out to be damaged.
    func backUp() async throws {
        let backups = DatabaseBackups(vault: bookmark.vault)
        do {
            if try await runBlocking({ [clock] in try backups.makeIfDue(now: clock.now()) }) {
                logger.debug("A backup of the database was made")
            }
        } catch let failure as Failure where !failure.isDamage {
            logger.warning("The database could not be backed up: \(failure)")
        }
    }
}

/// A vault's database, to be inspected and restored while no host runs.
public struct DatabaseRepair: Sendable {
    private let vault: String

    /// Creates a repair of the database in a vault's folder.
    public init(vault: String) { self.vault = vault }

    /// Inspects the database and its backups, and changes nothing.
    /// - Throws: `.notFound` if there is no vault, `.localIO` if its mark, the database or the folder of the backups
    ///   cannot be read.
    public func inspect() async throws(Failure) -> DatabaseCheck {
        do { return try await runBlocking { [vault] in try VaultRestore(vault: vault).inspect() } } catch {
            throw Failure(of: error)
        }
    }

    /// Returns the changes of the server that were queued, as far as the database can be read.
    /// - Returns: nil if it cannot be read.
    public func queuedChanges() async -> [QueuedChange]? {
        do {
            return try await runBlocking { [vault] in try VaultRestore(vault: vault).queuedChanges() }
                .map { QueuedChange($0) }
        } catch {
            return nil
        }
    }

    /// Replaces a damaged or missing database by the newest sound backup, or by an empty database if there is none.
    /// - Parameter announce: Receives what will be done, before anything is changed.
    /// - Returns: The state of the database and its backups before the restore, and the path at which the damaged
    ///   database is kept; the path is nil if there was no damaged database.
    /// - Throws: `.vaultLocked` while a host has the vault open, `.localIO` if something cannot be read or written. The
    ///   next call then continues the restore.
    public func restore(
        announce: @escaping @Sendable (DatabaseCheck) -> Void
    ) async throws(Failure) -> (found: DatabaseCheck, aside: String?) {
        do {
            return try await runBlocking { [vault] in try VaultRestore(vault: vault).run(announce: announce) }
        } catch {
            throw Failure(of: error)
        }
    }
}
