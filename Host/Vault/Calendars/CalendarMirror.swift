import Database
import Glibc
import LocalTree
public import Model
import Synchronization

/// A mirror of the calendars in files `<vault>/calendars/<name>/*.ics`. Each file is a byte-for-byte copy of a calendar
/// object, for other programs to read.
///
/// The database is the truth. After each commit that changed calendars, the files are written from the database. At
/// each start the files are compared with their rows by inode, size, modification time and permissions. A file that
/// another program changed is not overwritten: it is kept beside under a name that says so, and an issue is filed.
/// Files that others put into the folders are left alone. Nothing is ever written through a symbolic link.
///
/// A file is put in place by a rename. The file's object, mark and digest are committed before the rename, so that the
/// next start can recognize Larder's own files after an interrupted pass.
public final class CalendarMirror: Sendable {
    /// The absolute path of the folder that contains the calendars' folders.
    public let path: String
    let vault: String
    let database: Database
    let clock: @Sendable () -> Timestamp
    let hooks: CalendarMirrorHooks
    /// The issues about files that the current pass has kept.
    let kept = Mutex<[Issue]>([])
    /// The lock that allows one pass at a time.
    private let pass = Mutex<Void>(())

    /// The number of files that are written between two commits.
    static let batch = 200

    init(
        vault: String, database: Database, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() },
        hooks: CalendarMirrorHooks = CalendarMirrorHooks()
    ) {
        self.vault = vault
        self.clock = clock
        path = vault + "/calendars"
        self.database = database
        self.hooks = hooks
    }

    /// Brings all files in line with the database, at start. Blocks. Checks the status of each file, and reads only
    /// files that are not as recorded.
    /// - Returns: The new issues about files that were changed here and are kept beside.
    /// - Throws: `.localIO` if the disk is full or files cannot be written. The database keeps its content, and the
    ///   next call continues.
    @discardableResult
    public func complete() throws(Failure) -> [Issue] {
        try exclusively {
            let (last, calendars, folders) = try database.readBlocking { reads in
                (
                    try reads.calendarFiles.lastChange(), try reads.calendarFiles.calendars(),
                    try reads.calendarFiles.folders()
                )
            }
            if !calendars.isEmpty || !folders.isEmpty {
                let root = try openRoot()
                let known = Set(calendars)
                for folder in folders where !known.contains(folder.calendar) { try remove(folder, in: root.number) }
                for calendar in calendars { try mirrorAll(of: calendar, in: root.number) }
            }
            if last > 0 { try database.writeBlocking { try $0.calendarFiles.removeChanges(upTo: last) } }
        }
    }

    /// Writes the files of the objects that changed since the last call, after a commit. Blocks for as long as the
    /// writing takes. Without changes it only reads an empty table and checks the files that open issues are about.
    /// - Returns: The new issues, as ``complete()`` returns them.
    /// - Throws: The errors of ``complete()``. After an error call ``complete()`` next.
    @discardableResult
    public func follow() throws(Failure) -> [Issue] {
        try exclusively {
            while true {
                let changes = try database.readBlocking { try $0.calendarFiles.changes(limit: Self.batch) }
                if changes.isEmpty { return }
                let root = try openRoot()
                var objects: [RecordKey: Set<RecordKey>] = [:]
                for change in changes {
                    objects[change.calendar, default: []].formUnion(change.object.map { [$0] } ?? [])
                }
                for (calendar, keys) in objects.sorted(by: { $0.key < $1.key }) {
                    try mirror(keys.sorted(), of: calendar, in: root.number)
                }
                // An object that changed meanwhile has a change with another number, which stays.
                try database.writeBlocking { try $0.calendarFiles.removeChanges(changes.map(\.number)) }
            }
        }
    }

    /// Brings the files of some objects and the folder of their calendar in line with the database.
    private func mirror(_ keys: [RecordKey], of calendar: RecordKey, in root: Int32) throws {
        guard let title = try database.readBlocking({ try $0.calendarFiles.title(calendar) }) else {
            if let folder = try database.readBlocking({ try $0.calendarFiles.folder(of: calendar) }) {
                try remove(folder, in: root)
            }
            return
        }
        let isNew = try database.readBlocking { try $0.calendarFiles.folder(of: calendar) } == nil
        if isNew { return try mirrorAll(of: calendar, in: root) }
        let folder = try openFolder(of: calendar, title: title, in: root)
        if folder.isEmpty { return try mirrorAll(in: folder) }
        let jobs = try database.readBlocking { reads in
            try keys.map { MirrorJob(key: $0, file: try reads.calendarFiles.file(of: $0, in: calendar)) }
        }
        try bring(jobs, in: folder)
    }

    private func mirrorAll(of calendar: RecordKey, in root: Int32) throws {
        guard let title = try database.readBlocking({ try $0.calendarFiles.title(calendar) }) else { return }
        try mirrorAll(in: try openFolder(of: calendar, title: title, in: root))
    }

    /// Compares all files of a calendar with its objects, and brings those that differ in line.
    private func mirrorAll(in folder: borrowing MirrorFolder) throws {
        try removeLeftovers(in: folder)
        let calendar = folder.calendar
        var last: RecordKey?
        while true {
            let after = last
            let page = try database.readBlocking { reads in
                try reads.calendarFiles.contentIDs(of: calendar, after: after, limit: Self.batch).map { object in
                    (
                        object.contentID,
                        MirrorJob(key: object.key, file: try reads.calendarFiles.file(of: object.key, in: calendar))
                    )
                }
            }
            guard let end = page.last else { break }
            last = end.1.key
            try bring(
                page.filter { $0.1.file?.contentID != $0.0 || !isAsWritten($0.1.file, in: folder) }.map(\.1), in: folder
            )
        }
        last = nil
        while true {
            let after = last
            let page = try database.readBlocking { reads in
                try reads.calendarFiles.files(of: calendar, after: after, limit: Self.batch).map { file in
                    (file, try reads.calendarFiles.contentID(of: file.key, in: calendar) == nil)
                }
            }
            guard let end = page.last else { return }
            last = end.0.key
            try bring(page.filter(\.1).map { MirrorJob(key: $0.0.key, file: $0.0) }, in: folder)
        }
    }

    private func exclusively(_ body: () throws -> Void) throws(Failure) -> [Issue] {
        do {
            return try pass.withLock { _ in
                kept.withLock { $0 = [] }
                try body()
                try withdrawIssues()
                return kept.withLock { $0 }
            }
        } catch {
            throw error as? Failure ?? Failure(.internal, "Writing the files of \(path) failed: \(error)")
        }
    }
}

/// An object whose file is to be brought in line with the database.
struct MirrorJob {
    var key: RecordKey
    /// The object's file according to the database; nil if it has none.
    var file: MirrorFileRow?
}

/// The points at which tests intervene.
struct CalendarMirrorHooks: Sendable {
    enum Point: Hashable, Sendable, CaseIterable {
        case writing, written, recorded, aside, placed, kept, removed, folderRecorded, folderMoved
    }
    var reached: @Sendable (Point) throws -> Void = { _ in }
}
