import Glibc
import Model
import Synchronization
import TestSupport

@testable import Database
@testable import LocalTree
@testable import Vault

/// A vault's database and the files of its calendars.
final class MirrorFixture: Sendable {
    let folder: String
    let database: Database
    var calendars: String { folder + "/calendars" }

    init(_ folder: String) throws {
        self.folder = folder
        database = try Database.open(path: folder + "/larder.db")
    }

    func mirror(_ reached: @escaping @Sendable (CalendarMirrorHooks.Point) throws -> Void = { _ in }) -> CalendarMirror
    {
        CalendarMirror(vault: folder, database: database, hooks: CalendarMirrorHooks(reached: reached))
    }

    func put(_ calendar: RecordKey, _ name: String?) throws {
        let value = name.map { #"{"name":"\#($0)"}"# } ?? ""
        try database.writeBlocking { _ = try $0.records.put(Record(key: calendar, value: value), in: .calendars) }
    }

    func put(_ key: String, in calendar: RecordKey = work, _ content: String?) throws {
        let record = Record(key: RecordKey(key), content: content.map { Array($0.utf8) })
        try database.writeBlocking { _ = try $0.records.put(record, in: RecordCollection.calendars.of(calendar)) }
    }

    func remove(_ key: String, in calendar: RecordKey = work) throws {
        try database.writeBlocking {
            _ = try $0.records.remove(RecordKey(key), from: RecordCollection.calendars.of(calendar))
        }
    }

    func remove(_ calendar: RecordKey) throws {
        try database.writeBlocking { _ = try $0.records.remove(calendar, from: .calendars) }
    }

    /// Returns all files and empty folders below `calendars`, with their content.
    func files() throws -> [MirrorName: String] { try Self.files(below: folder) }

    static func files(below folder: String) throws -> [MirrorName: String] {
        var found: [MirrorName: String] = [:]
        let root = folder + "/calendars"
        guard Files.exists(root) else { return [:] }
        for name in try Files.names(in: root) {
            let path = "\(root)/\(name)"
            guard Files.isFolder(path) else {
                found[MirrorName(name)] = try Files.target(of: path).map { "-> \($0)" } ?? Files.text(path)
                continue
            }
            let names = try Files.names(in: path)
            if names.isEmpty { found["\(name)/"] = "" }
            for file in names {
                let below = "\(path)/\(file)"
                found["\(name)/\(file)"] =
                    try Files.target(of: below).map { "-> \($0)" }
                    ?? (Files.isFolder(below) ? "folder" : Files.text(below))
            }
        }
        return found
    }

    /// Returns the subjects of the issues about files that were changed locally.
    func kept() throws -> [MirrorName] {
        try database.readBlocking { try $0.issues.all() }.filter { $0.code == CalendarMirror.keptCode }
            .map { MirrorName($0.subject) }
    }

    /// Returns the number of calendars, folders and files that still have to be mirrored.
    func pending() throws -> Int { try database.readBlocking { try $0.calendarFiles.changes(limit: 1_000).count } }
}

func mode(of path: String) -> mode_t? {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & 0o777 : nil
}

func inode(of path: String) -> UInt64? {
    var info = stat()
    return lstat(path, &info) == 0 ? UInt64(info.st_ino) : nil
}

func withMirror(_ body: (MirrorFixture) throws -> Void) throws {
    try withTemporaryFolder { folder in try body(try MirrorFixture(folder)) }
}

/// Names that are compared byte by byte as keys of a dictionary, unlike strings.
extension MirrorName: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(text) }
}
