import Database
import Glibc
import LocalTree
public import Model

/// The copies of a vault's database in its folder `backups/`: two of the last days, and one of before each change of the schema.
///
/// They are numbered, since a clock may go back; how old one is, its modification time says.
public struct DatabaseBackups: Sendable {
    /// The vault, absolute.
    let vault: String

    /// In the vault.
    static let folder = "backups"
    private static let kept = 2
    private static let interval: Duration = .seconds(24 * 3600)
    /// In bytes, beside twice the database: a backup is not what fills a disk.
    private static let roomLeft: Int64 = 64 << 20

    public init(vault: String) { self.vault = vault }

    /// Makes a backup if there is none of the last day. It blocks.
    /// - Returns: whether it made one; false also while the disk is short.
    /// - Throws: also when the database turns out to be damaged: then the older backups stay.
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

    /// Keeps the database as it is before it gets another schema. It blocks.
    func keep(schema: Int) throws(Failure) {
        try makeFolder()
        try DatabaseFile(path: vault + "/larder.db").copy(to: "\(vault)/\(Self.folder)/larder-schema\(schema).db")
    }

    /// All, the newest first; those of before a change of the schema come last.
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

    /// None if there is no folder yet: one that cannot be read does not count as that.
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

    /// A copy that a kill cut off, and what SQLite had beside it.
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
