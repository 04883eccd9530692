import Database
import Glibc
import LocalTree
public import Model

/// The copies of a vault's database in the folder `backups/`: the two newest daily copies, and one from before each
/// change of the schema.
///
/// Daily copies are numbered, because a clock may go back. The modification time of a copy tells its age.
public struct DatabaseBackups: Sendable {
    /// The absolute path of the vault.
    let vault: String

    /// The name of the folder in the vault.
    static let folder = "backups"
    private static let kept = 2
    private static let interval: Duration = .seconds(24 * 3600)
    /// The free space that a backup needs besides twice the size of the database, in bytes, so that a backup does not
    /// fill the disk.
    private static let roomLeft: Int64 = 64 << 20

    /// Creates a value for a vault.
    /// - Parameter vault: The absolute path of the vault.
    public init(vault: String) { self.vault = vault }

    /// Makes a backup unless the newest one was made within the last 24 hours. Blocks.
    /// - Parameter now: The present time.
    /// - Returns: Whether a backup was made. False also if the disk has too little free space.
    /// - Throws: The errors of copying, among them `.localIO` if the database turns out to be damaged. The older
    ///   backups stay.
    @discardableResult
    public func makeIfDue(now: Timestamp) throws(Failure) -> Bool {
        let all = try numbered()
        if let newest = all.first, let made = Self.modified(newest.path), made <= now, now - made < Self.interval {
            return false
        }
        let file = DatabaseFile(path: vault + "/larder.db")
        guard hasRoom(for: file.path) else { return false }
        try makeFolder()
        try removeUnfinished()
        try file.copy(to: path(of: (all.first?.number ?? 0) + 1))
        for old in try numbered().dropFirst(Self.kept) { unlink(old.path) }
        return true
    }

    /// Copies the database before its schema changes. Blocks.
    /// - Parameter schema: The number of the present schema.
    func keep(schema: Int) throws(Failure) {
        try makeFolder()
        try DatabaseFile(path: vault + "/larder.db").copy(to: "\(vault)/\(Self.folder)/larder-schema\(schema).db")
    }

    /// Returns all backups, the newest first. Backups from before a change of the schema come last.
    /// - Throws: `.localIO` if the folder cannot be read.
    func all() throws(Failure) -> [(path: String, made: Timestamp)] {
        let schemas = try names().compactMap { name in Self.number(name, "larder-schema").map { ($0, name) } }
        let older = schemas.sorted { $0.0 > $1.0 }.map { "\(vault)/\(Self.folder)/\($0.1)" }
        return (try numbered().map(\.path) + older).compactMap { path in Self.modified(path).map { (path, $0) } }
    }

    private func numbered() throws(Failure) -> [(number: Int, path: String)] {
        try names().compactMap { name in Self.number(name, "larder-").map { ($0, "\(vault)/\(Self.folder)/\(name)") } }
            .sorted { $0.0 > $1.0 }
    }

    private func path(of number: Int) -> String {
        let digits = String(number)
        return "\(vault)/\(Self.folder)/larder-"
            + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits + ".db"
    }

    private static func number(_ name: String, _ prefix: String) -> Int? {
        guard name.hasPrefix(prefix), name.hasSuffix(".db") else { return nil }
        let digits = name.dropFirst(prefix.count).dropLast(3)
        guard (1...9).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(digits)
    }

    /// Returns the names in the folder of backups; none if there is no folder yet.
    /// - Throws: `.localIO` if the folder cannot be read.
    private func names() throws(Failure) -> [String] {
        let path = "\(vault)/\(Self.folder)"
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            if errno == ENOENT { return [] }
            throw .system("reading \(path)", errno)
        }
        let folder = Descriptor(number)
        return try LocalTree.names(in: folder.number)
    }

    /// Removes the incomplete copy of a killed process and the files that SQLite kept beside it.
    private func removeUnfinished() throws(Failure) {
        for name in try names() where !name.hasSuffix(".db") { unlink("\(vault)/\(Self.folder)/\(name)") }
    }

    private func makeFolder() throws(Failure) {
        let path = "\(vault)/\(Self.folder)"
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("making \(path)", errno) }
    }

    private func hasRoom(for database: String) -> Bool {
        var room = statvfs()
        guard statvfs(vault, &room) == 0 else { return false }
        let size = ["", "-wal"].reduce(Int64(0)) { $0.adding(Self.size(database + $1)) }
        let free = Int64(
            clamping: UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize)).partialValue)
        return free >= size.adding(size).adding(Self.roomLeft)
    }

    private static func size(_ path: String) -> Int64 {
        var info = stat()
        return stat(path, &info) == 0 ? Int64(info.st_size) : 0
    }

    private static func modified(_ path: String) -> Timestamp? {
        var info = stat()
        return lstat(path, &info) == 0 && info.isRegular ? Timestamp(info.st_mtim) : nil
    }
}
