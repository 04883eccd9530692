import Database
import LocalTree
import Logging
public import Model
import Threads
import Vault

extension AccountHost {
    /// How often it is looked whether a backup is due.
    static let backupCheck = Duration.seconds(3600)

    /// Makes a backup of the database each day, until the task is cancelled.
    /// - Throws: when the database turns out to be damaged: nothing goes on with one that is.
    func keepBackups() async throws {
        while true {
            try await backUp()
            try await clock.sleep(Self.backupCheck)
        }
    }

    /// Makes a backup of the database if there is none of the last day. What keeps it from being made is in the log, and else no
    /// trouble.
    func backUp() async throws {
        let backups = DatabaseBackups(vault: bookmark.vault)
        do {
            if try await runBlocking({ [clock] in try backups.makeIfDue(now: clock.now()) }) {
                logger.debug("A backup of the database was made")
            }
        } catch let failure as Failure where !failure.isDamage {
            logger.warning("There is no backup of the database: \(failure)")
        }
    }
}

/// A vault's database, looked at and restored while no host runs.
public struct DatabaseRepair: Sendable {
    private let vault: String

    public init(vault: String) { self.vault = vault }

    /// Looks at the database and its backups, and changes nothing.
    /// - Throws: `.notFound` when there is no vault, `.localIO` when its mark, the database or the folder of the
    ///   backups cannot be read.
    public func inspect() async throws(Failure) -> DatabaseCheck {
        do { return try await runBlocking { [vault] in try VaultRestore(vault: vault).inspect() } } catch {
            throw Failure(of: error)
        }
    }

    /// Puts the newest sound backup in the place of a database that is damaged or missing; without one, an empty database.
    /// - Parameter announce: told what will be done before anything is changed.
    /// - Returns: what was found, and where the damaged database is kept; nil: there was none.
    /// - Throws: `.vaultLocked` while a host has the vault open, `.localIO` when something cannot be read or written;
    ///   the next call goes on then.
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
