import Database
import Glibc
import LocalTree
public import Model

/// The check of a vault's database, and the restoration of a damaged or missing one from a backup. All functions block.
///
/// A person's decisions and data that cannot be found anew come from the backup: policies, claims, plugins' values, and
/// the event ids of event loops. The backup's journal and issues are obsolete and not used. Items keep their ids. The
/// local state of the items is found by comparing digests, and the server's state by a walk.
public struct VaultRestore: Sendable {
    /// The absolute path of the vault.
    let path: String

    private static let new = "restore.db"
    /// The name of the file that keeps everybody else from opening the vault: between two renames there is no database.
    static let marker = "restoring"
    /// The name of the copy of the restored backup. The copy stays until all local files were compared with it.
    static let source = "restored.db"

    /// Creates a value for a vault.
    /// - Parameter vault: The absolute path of the vault.
    public init(vault: String) { path = vault }

    private var database: String { path + "/larder.db" }

    /// Checks the database and its backups without changing anything. A host may be at work.
    /// - Returns: The state of the database and of its backups.
    /// - Throws: `.notFound` if there is no vault, `.localIO` if the vault's mark, the database or the folder of
    ///   backups cannot be read.
    public func inspect() throws(Failure) -> DatabaseCheck {
        let mark = try mark()
        var backups: [DatabaseCheck.Backup] = []
        for (path, made) in try DatabaseBackups(vault: path).all() {
            backups.append(inspect(path, made: made, of: mark?.id))
        }
        let file = DatabaseFile(path: database)
        let emptiness = file.emptiness
        // An interrupted first start leaves an empty database.
        let isThere = access(database, F_OK) == 0 && (emptiness == nil || !backups.isEmpty)
        var problem = isThere ? emptiness : nil
        if isThere, problem == nil { problem = try file.damage(isThorough: true) }
        let state: DatabaseCheck.State =
            access("\(path)/\(Self.marker)", F_OK) == 0
            ? .restoring : !isThere ? .missing : problem == nil ? .sound : .damaged
        return DatabaseCheck(path: database, state: state, problem: problem, backups: backups)
    }

    private func inspect(_ backup: String, made: Timestamp, of vault: String?) -> DatabaseCheck.Backup {
        let file = DatabaseFile(path: backup)
        var found = DatabaseCheck.Backup(path: backup, made: made, problem: nil)
        do {
            found.problem = try file.problem(of: vault)
            if found.problem == nil {
                found.policies = try file.count("policies")
                // Older schemas have no claims.
                found.claims = (try? file.count("claims")) ?? 0
            }
        } catch {
            (found.problem, found.isUnreadable) = (error.message, true)
        }
        return found
    }

    /// Restores the database if it is damaged or missing. A run that was killed at any point can be repeated, with the
    /// same result.
    /// - Parameter announce: Is called with the result of the check before anything is changed.
    /// - Returns: The result of the check, and the path where the damaged database was put; nil if there was none.
    /// - Throws: `.vaultLocked` if a host has the vault open. `.localIO` if something cannot be read or written, such
    ///   as a backup while no other backup is sound. The next run continues from the completed steps.
    public func run(
        announce: (DatabaseCheck) -> Void
    ) throws(Failure) -> (found: DatabaseCheck, aside: String?) {
        try VaultOwner.refuseOther(of: path)
        let lock = try VaultLock(of: path)
        defer { lock.release() }
        let found = try inspect()
        guard found.state != .sound else { return (found, nil) }
        let mark = try mark()
        // True if the previous run was killed after its last rename and only the marker is left.
        let isDone =
            found.state == .restoring && access("\(path)/\(Self.new)", F_OK) != 0 && access(database, F_OK) == 0
            && found.problem == nil
        if !isDone { try Self.refuseUnreadable(found) }
        announce(found)
        if isDone {
            try finish()
            return (found, nil)
        }
        try prepare(from: found.newestSound?.path, mark)
        try write(Self.marker)
        let aside = try putAside()
        try move(Self.new, to: "larder.db")
        try finish()
        return (found, aside)
    }

    /// Throws `.localIO` if no backup is sound and one cannot be read. The unreadable backup may be sound, and starting
    /// with an empty database would lose its content.
    private static func refuseUnreadable(_ found: DatabaseCheck) throws(Failure) {
        guard found.newestSound == nil, let backup = found.backups.first(where: \.isUnreadable) else { return }
        throw Failure(
            .localIO, "No backup is sound, and \(backup.path) cannot be read: \(backup.problem ?? "")",
            hint: "Check the system's log for errors of the disk; to start without this backup, move it elsewhere")
    }

    /// Returns the changes of the server that the damaged database has queued, as far as they can be read.
    /// - Throws: `.localIO` if none can be read.
    public func queuedChanges() throws(Failure) -> [SyncRecord] {
        guard access(database, F_OK) == 0 else { return [] }
        return try DatabaseFile(path: database).queuedChanges()
    }

    private func mark() throws(Failure) -> VaultMark? {
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw Failure(
                .notFound, "There is no vault at \(path): \(String(cString: strerror(errno)))",
                hint: .runFirst)
        }
        let folder = Descriptor(number)
        return try VaultMark.read(in: folder.number, at: path)
    }

    /// Creates the new database under a name that nobody opens.
    private func prepare(from backup: String?, _ mark: VaultMark?) throws(Failure) {
        for end in ["", "-journal", "-wal", "-shm", ".new"] { unlink("\(path)/\(Self.new)\(end)") }
        let new = "\(path)/\(Self.new)"
        if let backup {
            try DatabaseFile(path: backup).copy(to: "\(path)/\(Self.source)")
            try DatabaseFile(path: backup).copy(to: new)
        } else {
            unlink("\(path)/\(Self.source)")
            let number = Glibc.open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw .system("making \(new)", errno) }
            close(number)
        }
        try DatabaseFile(path: new).makeCurrent(vault: mark?.id, isRestored: backup != nil)
    }

    /// Renames the damaged database and its log to a new name.
    /// - Returns: The new path; nil if there was no database.
    private func putAside() throws(Failure) -> String? {
        guard access(database, F_OK) == 0 else { return nil }
        var number = 1
        while access("\(path)/damaged-\(number).db", F_OK) == 0 { number += 1 }
        // The log is moved first. The database without its log might pass for complete, but the marker keeps everybody
        // from opening it.
        for end in ["-wal", "-shm"] where access(database + end, F_OK) == 0 {
            try move("larder.db\(end)", to: "damaged-\(number).db\(end)")
        }
        try move("larder.db", to: "damaged-\(number).db")
        return "\(path)/damaged-\(number).db"
    }

    private func finish() throws(Failure) {
        // The new database is sound. Its next opening need not check it because of how the damaged one ended.
        for name in [Vault.unclosed, Self.marker] { unlink("\(path)/\(name)") }
        try syncFolder(of: database)
    }

    private func move(_ name: String, to other: String) throws(Failure) {
        guard rename("\(path)/\(name)", "\(path)/\(other)") == 0 else {
            throw .system("renaming \(path)/\(name) to \(other)", errno)
        }
        try syncFolder(of: database)
    }

    private func write(_ name: String) throws(Failure) {
        let number = Glibc.open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("making \(path)/\(name)", errno) }
        close(number)
        try syncFolder(of: database)
    }

    /// Throws an error if the database is missing or empty although backups of it exist: it was lost. A new database
    /// would silently forget a person's decisions.
    /// - Throws: `.localIO` if the database was lost.
    static func refuseLoss(_ vault: String) throws(Failure) {
        let file = DatabaseFile(path: vault + "/larder.db")
        guard let emptiness = file.emptiness, try !DatabaseBackups(vault: vault).all().isEmpty else { return }
        throw SQLiteFailure.damage(of: file.path, emptiness)
    }

    /// Throws an error if a restore of this vault began and did not finish.
    /// - Throws: `.localIO` if the restore is unfinished.
    static func refuseUnfinished(_ vault: String) throws(Failure) {
        guard access("\(vault)/\(marker)", F_OK) == 0 else { return }
        throw Failure(
            .localIO, "A restore of the database of the vault \(vault) was not finished",
            hint: .restoreDatabaseAgain)
    }
}
