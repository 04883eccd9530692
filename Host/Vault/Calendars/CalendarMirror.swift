import Database
import Glibc
import LocalTree
public import Model
import Synchronization

/// `<vault>/calendars/<name>/*.ics`: the objects of calendars as files, byte for byte, for other programs to read.
///
/// The database is the truth. The files are written from it after each commit that touched calendars, and compared with it at each
/// start, by their looks alone. What programs change in them is not written over: it is kept beside, under a name that says so, with an
/// issue. What others put beside them is left alone, and nothing is ever written through a symbolic link. A file comes by a rename;
/// which file is whose, what it looks like and its digest are committed before that, so that a start can tell what of a pass that was
/// cut off is Larder's own.
public final class CalendarMirror: Sendable {
    /// Where the folders are, absolute.
    public let path: String
    let vault: String
    let database: Database
    let clock: @Sendable () -> Timestamp
    let hooks: CalendarMirrorHooks
    /// What the pass under way has kept.
    let kept = Mutex<[Issue]>([])
    /// One pass at a time.
    private let pass = Mutex<Void>(())

    /// How many files are written between two commits.
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

    /// Brings all files in line with the database, at a start. It blocks, and looks at each file, but reads none.
    /// - Returns: the issues about files that were changed here and are kept beside, those that are new.
    /// - Throws: `.localIO` if the disk is full or files cannot be written. What is in the database stays; the next call goes on.
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

    /// Writes what changed in the database since the last call, after a commit. It blocks for as long as that takes; without
    /// changes it only looks into an empty table.
    /// - Returns: as ``complete()``.
    /// - Throws: as ``complete()``, which is to be called next then.
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
                // One that changed meanwhile has another number and stays.
                try database.writeBlocking { try $0.calendarFiles.removeChanges(changes.map(\.number)) }
            }
        }
    }

    /// Brings the files of some objects in line, and the folder of their calendar.
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

    /// Compares all files of a calendar with its objects and brings those in line that differ.
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

/// An object whose file is to be brought in line.
struct MirrorJob {
    var key: RecordKey
    /// The file that it has by the database.
    var file: MirrorFileRow?
}

/// Where tests step in.
struct CalendarMirrorHooks: Sendable {
    enum Point: Hashable, Sendable, CaseIterable {
        case writing, written, recorded, aside, placed, kept, removed, folderRecorded, folderMoved
    }
    var reached: @Sendable (Point) throws -> Void = { _ in }
}
