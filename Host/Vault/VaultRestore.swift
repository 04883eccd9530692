import Database
import Glibc
import LocalTree
public import Model

/// Looks at a vault's database, and puts a backup in a damaged one's place. All functions block.
///
/// What a person decided, and what cannot be found anew, comes from the backup: policies, claims, plugins' values, how far event loops
/// have come. The journal and the issues of that time are of no use any more. Items keep their ids; what is here of them is found
/// out by comparing digests, and what the server has by walking over everything.
public struct VaultRestore: Sendable {
    /// Absolute.
    let path: String

    private static let new = "restore.db"
    /// While it is there, nobody else opens the vault: between two renames there is no database.
    static let marker = "restoring"
    /// The backup that a restore took, until all that is here was compared with it.
    static let source = "restored.db"

    public init(vault: String) { path = vault }

    private var database: String { path + "/larder.db" }

    /// Looks, and changes nothing. A host may be at work.
    /// - Throws: `.notFound` when there is no vault, `.localIO` when its mark, the database or the folder of the backups
    ///   cannot be read.
    public func inspect() throws(Failure) -> DatabaseCheck {
        let mark = try mark()
        var backups: [DatabaseCheck.Backup] = []
        for (path, made) in try DatabaseBackups(vault: path).all() {
            backups.append(inspect(path, made: made, of: mark?.id))
        }
        let file = DatabaseFile(path: database)
        let emptiness = file.emptiness
        // A first start that was killed leaves an empty one.
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
                // An older schema has none.
                found.claims = (try? file.count("claims")) ?? 0
            }
        } catch {
            (found.problem, found.isUnreadable) = (error.message, true)
        }
        return found
    }

    /// Restores the database if it is damaged or missing. A run that was killed at any point is done again, to the same end.
    /// - Parameter announce: told what will be done before anything is changed.
    /// - Returns: what was found, and where the damaged database was put; nil: there was none.
    /// - Throws: `.vaultLocked` while a host has the vault open, `.localIO` when something cannot be read or written,
    ///   such as a backup, where no other is sound; what is done already is gone on with the next time.
    public func run(
        announce: (DatabaseCheck) -> Void
    ) throws(Failure) -> (found: DatabaseCheck, aside: String?) {
        let lock = try VaultLock(of: path)
        defer { lock.release() }
        let found = try inspect()
        guard found.state != .sound else { return (found, nil) }
        let mark = try mark()
        // Killed after the last rename: only the marker is left.
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

    /// A backup that cannot be read now may be sound: an empty database would forget what it holds.
    private static func refuseUnreadable(_ found: DatabaseCheck) throws(Failure) {
        guard found.newestSound == nil, let backup = found.backups.first(where: \.isUnreadable) else { return }
        throw Failure(
            .localIO, "No backup is sound, and \(backup.path) cannot be read: \(backup.problem ?? "")",
            hint: "See what the system's log says of the disk; to begin without this backup, move it elsewhere")
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

    /// Makes the new database under a name that nobody opens.
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

    /// Keeps the damaged database and its log under a name of their own.
    private func putAside() throws(Failure) -> String? {
        guard access(database, F_OK) == 0 else { return nil }
        var number = 1
        while access("\(path)/damaged-\(number).db", F_OK) == 0 { number += 1 }
        // The log first: the database alone would be taken for whole by nobody, since the marker is there.
        for end in ["-wal", "-shm"] where access(database + end, F_OK) == 0 {
            try move("larder.db\(end)", to: "damaged-\(number).db\(end)")
        }
        try move("larder.db", to: "damaged-\(number).db")
        return "\(path)/damaged-\(number).db"
    }

    private func finish() throws(Failure) {
        // It was sound when this began, so nothing is to be looked at again for how the damaged one ended.
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

    /// A database that is gone or empty while there are backups of it was lost: a new one would forget in silence what a person decided.
    /// - Throws: `.localIO` if it is.
    static func refuseLoss(_ vault: String) throws(Failure) {
        let file = DatabaseFile(path: vault + "/larder.db")
        guard let emptiness = file.emptiness, try !DatabaseBackups(vault: vault).all().isEmpty else { return }
        throw SQLiteFailure.damage(of: file.path, emptiness)
    }

    /// - Throws: `.localIO` if a restore of this vault began and did not end.
    static func refuseUnfinished(_ vault: String) throws(Failure) {
        guard access("\(vault)/\(marker)", F_OK) == 0 else { return }
        throw Failure(
            .localIO, "The database of the vault \(vault) was being restored, and that was not finished",
            hint: .restoreDatabaseAgain)
    }
}
