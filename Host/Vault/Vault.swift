public import Database
import Glibc
public import LocalTree
public import Model

/// The folder of an account.
///
/// It contains `larder.db`, `files/` (unless the config names another folder for the local copies), `incoming/`,
/// `outgoing/`, `calendars/`, `thumbnails/`, `projects/`, `plugins/`, `backups/`, the file `vault` with the vault's id, the file
/// `trouble` with a note, and the file `lock`. The file `unclosed` exists while a host has the vault open. If the next
/// opening finds the file, the last host did not close the vault.
///
/// A process that holds a value of this type has exclusive access to the vault. Commands that only read open the
/// database beside it.
public final class Vault: Sendable {
    /// The absolute path of the vault.
    public let path: String
    /// The vault's id: 32 lower-case hexadecimal digits, chosen when the vault was created.
    public let id: String
    /// The vault's database.
    public let database: Database
    /// The vault's tree of local copies.
    public let tree: Tree
    /// The files of the calendars.
    public let calendars: CalendarMirror
    /// Whether this is the first opening since the system booted. Writes from before the boot that were not synced to
    /// the disk may be lost.
    public let isFirstSinceBoot: Bool
    let lock: VaultLock

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

    /// Opens a vault, and creates it if it is missing. Blocks.
    /// - Parameters:
    ///   - path: The absolute path of the vault.
    ///   - files: The absolute path of the folder with the local copies; nil for `<vault>/files`.
    ///   - known: The id of the vault that must be there; nil takes any vault. Nothing is written into another vault but
    ///     its lock.
    ///   - clock: Returns the present time.
    /// - Returns: The open vault.
    /// - Throws: `.vaultLocked` if another host has the vault open. `.localIO` if the vault is another one than `known`,
    ///   if the folder of the local copies is missing, belongs to another vault or lies on a file system that cannot
    ///   exchange files, or if the database is damaged, missing or being restored. `.cannotCreate` if the vault cannot be created or the folder contains
    ///   other files. `.config` if the vault lies in `files` or `files` in the vault. `.denied` if this process is
    ///   root's and the vault another user's.
    public static func open(
        at path: String, files: String? = nil, known: String? = nil,
        clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
    ) throws(Failure) -> Vault {
        try VaultOwner.refuseOther(of: path)
        let folder = try makeFolders(path)
        let hadDatabase = status(of: "larder.db", in: folder.number) != nil
        if !hadDatabase, try VaultMark.read(in: folder.number, at: path) == nil {
            try refuseStrangeFolder(path, folder.number)
        }
        let lock = try VaultLock(of: path)
        try VaultRestore.refuseUnfinished(path)
        try VaultRestore.refuseLoss(path)
        var mark = try VaultMark.read(in: folder.number, at: path)
        if let mark { try refuseOther(mark, than: known, at: path) }
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
            // After the old database was moved aside, the new database gets the id in the vault's mark. The tree's mark
            // has the same id.
            if mark == nil { mark = try database.readBlocking { try $0.meta.text(.vaultID) }.flatMap(VaultMark.init) }
            let marked = mark ?? VaultMark.random()
            try refuseOther(marked, than: known, at: path)
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
                vault: path, vaultFolder: lock.folder, id: marked, database: database, clock: clock
            )
            .open(files: files ?? path + "/files")
            return Vault(
                path: path, id: marked.id, database: database, tree: tree, isFirstSinceBoot: isFirstSinceBoot,
                lock: lock, clock: clock)
        } catch {
            // The original error matters more than an error of closing.
            if (try? database.close()) != nil { unlinkat(folder.number, unclosed, 0) }
            throw error as? Failure ?? Failure(.internal, "Opening the vault \(path) failed: \(error)")
        }
    }

    /// Tells whether there is a vault with a database. An error of the disk does not count as a missing database.
    /// Blocks.
    /// - Parameter path: The absolute path of the vault.
    public static func exists(at path: String) -> Bool {
        access("\(path)/larder.db", F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Tells whether nothing of a vault is at a path: neither a database nor the mark of a vault that has lost it. An error
    /// of the disk counts as neither. Blocks.
    /// - Parameter path: The absolute path of the vault.
    public static func isMissing(at path: String) -> Bool {
        !exists(at: path) && access("\(path)/\(VaultMark.fileName)", F_OK) != 0
    }

    /// Opens the database of a vault for reading, also while a host has the vault open.
    /// - Parameter path: The absolute path of the vault.
    /// - Throws: `.localIO` if the database is damaged, lost or being restored, or if another version of Larder wrote
    ///   it; `.notFound` if there is no database yet.
    public static func openDatabaseForReading(at path: String) throws(Failure) -> Database {
        try VaultRestore.refuseUnfinished(path)
        try VaultRestore.refuseLoss(path)
        return try Database.open(path: path + "/larder.db", readOnly: true)
    }

    /// Notes that this process has the vault for long, and on which socket it takes commands for it, for
    /// ``VaultHolder/last(of:)``. Where the note is as it should be, does nothing. Blocks.
    /// - Parameter socket: The absolute path of the socket, without line breaks; nil if the process takes no commands.
    public func announce(controlSocket socket: String?) { lock.announce(socket) }

    /// Whether there is a lock in the vault, whatever it says. Blocks.
    public var hasLock: Bool { access("\(path)/\(VaultLock.name)", F_OK) == 0 }

    /// Closes the database and releases the vault. No access to the vault may be in progress or follow.
    /// - Throws: The errors of ``Database/close()``. The vault is released in this case too, and the next opening
    ///   checks the database for damage.
    public func close() throws(Failure) {
        defer { lock.release() }
        try database.close()
        unlink("\(path)/\(Self.unclosed)")
    }

    /// Checks the database for damage because the last host did not close the vault. Nothing is read from the database
    /// before this check.
    /// - Throws: `.localIO` if the database is damaged, or the errors of the check.
    private static func refuseDamage(_ path: String) throws(Failure) {
        let file = DatabaseFile(path: path + "/larder.db")
        if let damage = try file.damage() { throw SQLiteFailure.damage(of: file.path, damage) }
    }

    /// Throws `.localIO` if a vault is another one than the one that was there before, as when somebody has begun a vault
    /// where the disk with the first is not mounted.
    private static func refuseOther(_ mark: VaultMark, than known: String?, at path: String) throws(Failure) {
        guard let known, mark.id != known else { return }
        throw Failure(
            .localIO, "The vault \(path) is another one than before",
            hint: "Mount the one that was there. To go on with this one, restart the host")
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
                hint: "Check that it is a folder of the user that Larder runs as")
        }
        return Descriptor(number)
    }

    /// Throws `.cannotCreate` if a folder without a vault contains other files: the folder is somebody else's.
    private static func refuseStrangeFolder(_ path: String, _ folder: Int32) throws(Failure) {
        let own: Set = [
            "lock", "unclosed", "backups", "incoming", "outgoing", "calendars", "thumbnails", "projects", "plugins",
            "files",
            "vault.new", noteName,
        ]
        guard let strange = try names(in: folder).first(where: { !own.contains($0) }) else { return }
        throw Failure(
            .cannotCreate, "\(path) is not a vault and not empty: it contains \(strange)",
            hint: "Name a new or empty folder as `vault` in the config")
    }
}

/// Creates a folder and its missing parents, accessible only to their owner.
/// - Throws: `.cannotCreate` or `.localIO` if a folder cannot be created.
package func makePath(_ path: String) throws(Failure) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let code = errno
    guard code == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
        throw Failure(
            .cannotCreate, "The folder \(path) cannot be created: \(String(cString: strerror(code)))",
            hint: "Create it, or check that the folder above belongs to the user that Larder runs as")
    }
    try makePath(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("making the folder \(path)", errno) }
}
