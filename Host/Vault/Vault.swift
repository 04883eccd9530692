public import Database
import Glibc
public import LocalTree
public import Model

/// An account's folder: `larder.db`, `files/` (unless the config names another folder for them), `incoming/`, `calendars/`,
/// `thumbnails/`, `projects/`, `plugins/`, `backups/`, the mark `vault` with the vault's id, the note `trouble`, and the lock. The file
/// `unclosed` is there while somebody has the vault open: found at the next opening it says that the last one did not end well.
///
/// Whoever holds a value has the vault to itself; reading commands open the database alone, beside it.
public final class Vault: Sendable {
    /// Absolute.
    public let path: String
    /// 32 lower-case hexadecimal digits, made when the vault was.
    public let id: String
    public let database: Database
    public let tree: Tree
    /// The calendars' files.
    public let calendars: CalendarMirror
    /// Whether the system was started again since the vault was last open: what was not synced may be gone.
    public let isFirstSinceBoot: Bool
    private let lock: VaultLock

    static let unclosed = "unclosed"

    private init(
        path: String, id: String, database: Database, tree: Tree, isFirstSinceBoot: Bool, lock: consuming VaultLock,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.path = path
        self.id = id
        self.database = database
        self.tree = tree
        calendars = CalendarMirror(vault: path, database: database, clock: clock)
        self.isFirstSinceBoot = isFirstSinceBoot
        self.lock = lock
    }

    /// Opens a vault, and makes it if there is none. It blocks.
    /// - Parameters:
    ///   - path: Absolute.
    ///   - files: The folder of the local copies, absolute; nil or `<vault>/files`: in the vault.
    /// - Throws: `.vaultLocked` when another host has it open, `.localIO` when the folder of the local copies is not
    ///   there, another vault's or on a file system that cannot exchange files, or the database is damaged, missing or
    ///   being restored; `.cannotCreate` when the vault cannot be made or is a folder with other things in it;
    ///   `.config` when it and `files` lie in one another.
    public static func open(
        at path: String, files: String? = nil, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
    ) throws(Failure) -> Vault {
        let folder = try makeFolders(path)
        let hadDatabase = status(of: "larder.db", in: folder.number) != nil
        if !hadDatabase, try VaultMark.read(in: folder.number, at: path) == nil {
            try refuseStrangeFolder(path, folder.number)
        }
        let lock = try VaultLock(of: path)
        try VaultRestore.refuseUnfinished(path)
        try VaultRestore.refuseLoss(path)
        var mark = try VaultMark.read(in: folder.number, at: path)
        for name in ["incoming", "thumbnails", "projects", "plugins"] where mkdirat(folder.number, name, 0o700) != 0 {
            guard errno == EEXIST else { throw .system("making \(path)/\(name)", errno) }
        }
        let wasUnclosed = status(of: unclosed, in: folder.number) != nil
        if wasUnclosed, hadDatabase { try refuseDamage(path) }
        if !wasUnclosed { try makeMark(unclosed, in: folder.number, at: path) }
        let database = try Database.open(path: path + "/larder.db") { schema in
            try DatabaseBackups(vault: path).keep(schema: schema)
        }
        do {
            // A database that was moved aside is made anew under the id that the tree is marked with.
            if mark == nil { mark = try database.readBlocking { try $0.meta.text(.vaultID) }.flatMap(VaultMark.init) }
            let marked = mark ?? VaultMark.random()
            try marked.write(in: folder.number, at: path)
            let boot = currentBootID()
            let isFirstSinceBoot = try database.writeBlocking { tx in
                let last = try tx.meta.text(.bootID)
                if let last, last != boot { try tx.distrustMarks(now: clock()) }
                try tx.meta.set(.vaultID, marked.id)
                try tx.meta.set(.bootID, boot)
                return last != boot
            }
            let tree = try TreeOpening(
                vault: path, vaultFolder: folder.number, id: marked, database: database, clock: clock
            )
            .open(files: files ?? path + "/files")
            return Vault(
                path: path, id: marked.id, database: database, tree: tree, isFirstSinceBoot: isFirstSinceBoot,
                lock: lock, clock: clock)
        } catch {
            // Its own error is of no interest beside the other.
            if (try? database.close()) != nil { unlinkat(folder.number, unclosed, 0) }
            throw error as? Failure ?? Failure(.internal, "Opening the vault \(path) failed: \(error)")
        }
    }

    /// Whether there is a vault with a database, as far as it can be told: an error of the disk is no absence. It blocks.
    public static func exists(at path: String) -> Bool {
        access("\(path)/larder.db", F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// The database of a vault, for reading beside a host that may have it open.
    /// - Throws: `.localIO` when the database is damaged, was lost or is being restored, or another version of Larder
    ///   wrote it; `.notFound` when there is none yet.
    public static func openDatabaseForReading(at path: String) throws(Failure) -> Database {
        try VaultRestore.refuseUnfinished(path)
        try VaultRestore.refuseLoss(path)
        return try Database.open(path: path + "/larder.db", readOnly: true)
    }

    /// Closes the database and gives the vault free. No access may be under way or follow.
    /// - Throws: As ``Database/close()``. The vault is free then too, and its next opening looks at the database first.
    public func close() throws(Failure) {
        defer { lock.release() }
        try database.close()
        unlink("\(path)/\(Self.unclosed)")
    }

    /// The last host that had the vault open did not close it: before anything is believed that the database says, it is looked at.
    private static func refuseDamage(_ path: String) throws(Failure) {
        let file = DatabaseFile(path: path + "/larder.db")
        if let damage = try file.damage() { throw SQLiteFailure.damage(of: file.path, damage) }
    }

    private static func makeMark(_ name: String, in folder: Int32, at path: String) throws(Failure) {
        let number = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("making \(path)/\(name)", errno) }
        Glibc.close(number)
    }

    private static func makeFolders(_ path: String) throws(Failure) -> Descriptor {
        try makePath(path)
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw Failure(
                .cannotCreate, "The vault \(path) cannot be opened: \(String(cString: strerror(errno)))",
                hint: "See that it is a folder of the user that Larder runs as")
        }
        return Descriptor(number)
    }

    /// A folder with other things in it is somebody's, and no vault.
    private static func refuseStrangeFolder(_ path: String, _ folder: Int32) throws(Failure) {
        let own: Set = [
            "lock", "unclosed", "backups", "incoming", "calendars", "thumbnails", "projects", "plugins", "files",
            "vault.new", noteName,
        ]
        guard let strange = try names(in: folder).first(where: { !own.contains($0) }) else { return }
        throw Failure(
            .cannotCreate, "\(path) is no vault and not empty: there is \(strange)",
            hint: "Name a new or empty folder as `vault` in the config")
    }
}

/// Makes a folder and those above it, for the owner alone.
func makePath(_ path: String) throws(Failure) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let code = errno
    guard code == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
        throw Failure(
            .cannotCreate, "The folder \(path) cannot be made: \(String(cString: strerror(code)))",
            hint: "Make it, or see that the folder above belongs to the user that Larder runs as")
    }
    try makePath(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("making the folder \(path)", errno) }
}
