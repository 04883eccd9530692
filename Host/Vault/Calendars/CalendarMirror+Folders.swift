import CLinux
import Database
import Glibc
import LocalTree
import Model

/// A calendar's folder. It is held open so that later calls reach this folder even if it is moved.
struct MirrorFolder: ~Copyable {
    let descriptor: Descriptor
    let calendar: RecordKey
    /// The absolute path, for messages.
    let path: String
    /// Whether the folder contains none of the calendar's files.
    let isEmpty: Bool
}

extension CalendarMirror {
    /// Opens `<vault>/calendars`, and creates it if it is missing.
    func openRoot() throws(Failure) -> Descriptor {
        try Database.checkPlace(of: database.path)
        let number = Glibc.open(vault, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .system("opening \(vault)", errno) }
        let folder = Descriptor(number)
        if mkdirat(folder.number, "calendars", 0o700) != 0, errno != EEXIST { throw .system("making \(path)", errno) }
        let root = openBeneath(folder.number, "calendars", O_RDONLY | O_DIRECTORY)
        guard root >= 0 else { throw inTheWay(path) }
        return Descriptor(root)
    }

    private func inTheWay(_ path: String) -> Failure {
        switch errno {
        case ENOTDIR, ELOOP, EXDEV:
            Failure(
                .localIO, "\(path) is not a folder of the vault: calendars cannot be written there",
                hint: "Move it away; the calendars are kept in the database")
        case let code: .system("opening \(path)", code)
        }
    }

    /// Opens the folder of a calendar. The folder is created if it is missing, and renamed if the calendar's title has
    /// changed.
    func openFolder(of calendar: RecordKey, title: String?, in root: Int32) throws -> MirrorFolder {
        let wanted = MirrorName.folder(title: title, key: calendar)
        var row = try database.readBlocking { try $0.calendarFiles.folder(of: calendar) }
        var isEmpty = row == nil
        if let known = row {
            row = try renamed(known, to: wanted, in: root)
        }
        var refused: Set<MirrorName> = []
        while true {
            let folder =
                try row
                ?? MirrorFolderRow(
                    calendar: calendar,
                    name: freeName(for: calendar, wanted, in: root, mayBeFolder: true, not: refused),
                    title: wanted)
            if row == nil {
                try database.writeBlocking { tx in
                    try tx.calendarFiles.removeFiles(of: calendar)
                    try tx.calendarFiles.store(folder)
                }
            }
            if let number = try open(folder.name, in: root) {
                return MirrorFolder(
                    descriptor: Descriptor(number), calendar: calendar, path: "\(path)/\(folder.name)", isEmpty: isEmpty
                )
            }
            // Something that is not Larder's folder has the name.
            refused.insert(folder.name)
            (row, isEmpty) = (nil, true)
        }
    }

    /// Renames a folder if its calendar's title has changed. Finishes an interrupted rename first.
    private func renamed(_ row: MirrorFolderRow, to wanted: MirrorName, in root: Int32) throws -> MirrorFolderRow {
        var row = row
        if let former = row.formerName {
            row = try moved(row, from: former, in: root)
        }
        guard row.title != wanted else { return row }
        let former = row.name
        row.title = wanted
        row.name = try freeName(for: row.calendar, wanted, in: root, mayBeFolder: false)
        row.formerName = former
        try database.writeBlocking { [row] in try $0.calendarFiles.store(row) }
        try hooks.reached(.folderRecorded)
        return try moved(row, from: former, in: root)
    }

    private func moved(_ row: MirrorFolderRow, from former: MirrorName, in root: Int32) throws -> MirrorFolderRow {
        var row = row
        while former != row.name, linux_rename_noreplace(root, former.text, root, row.name.text) != 0 {
            // A missing folder need not be moved.
            if errno == ENOENT { break }
            guard errno == EEXIST else { throw Failure.system("renaming \(path)/\(former)", errno) }
            row.name = try freeName(for: row.calendar, row.title, in: root, mayBeFolder: false, not: [row.name])
            try database.writeBlocking { [row] in try $0.calendarFiles.store(row) }
        }
        try hooks.reached(.folderMoved)
        row.formerName = nil
        try database.writeBlocking { [row] tx in
            try tx.moveKept(from: former, to: row.name)
            try tx.calendarFiles.store(row)
        }
        return row
    }

    /// Opens a folder, and creates it if it is missing.
    /// - Returns: The descriptor; nil if the name belongs to something that is not a folder or not this user's.
    private func open(_ name: MirrorName, in root: Int32) throws(Failure) -> Int32? {
        if mkdirat(root, name.text, 0o700) != 0, errno != EEXIST { throw .system("making \(path)/\(name)", errno) }
        let number = openBeneath(root, name.text, O_RDONLY | O_DIRECTORY)
        guard number >= 0 else {
            if errno == ENOTDIR || errno == ELOOP || errno == EXDEV { return nil }
            throw .system("opening \(path)/\(name)", errno)
        }
        var info = stat()
        guard fstat(number, &info) == 0, info.st_uid == geteuid() else {
            close(number)
            return nil
        }
        if info.st_mode & 0o777 != 0o700, fchmod(number, 0o700) != 0 {
            let code = errno
            close(number)
            throw .system("making \(path)/\(name) its owner's alone", code)
        }
        return number
    }

    /// Returns a folder name that no other calendar has.
    /// - Parameters:
    ///   - mayBeFolder: Whether a folder may already have the name.
    ///   - refused: The names that must not be returned.
    private func freeName(
        for calendar: RecordKey, _ wanted: MirrorName, in root: Int32, mayBeFolder: Bool,
        not refused: Set<MirrorName> = []
    ) throws -> MirrorName {
        try wanted.firstFree(for: calendar) { name throws in
            if refused.contains(name) { return .taken }
            if let known = try database.readBlocking({ try $0.calendarFiles.folder(named: name) }) {
                return known.calendar == calendar ? .free : .taken
            }
            guard let info = status(of: name.text, in: root) else {
                return errno == ENAMETOOLONG ? .tooLong : .free
            }
            return mayBeFolder && info.isFolder ? .free : .taken
        }
    }

    /// Removes the files of a deleted calendar, and its folder unless other entries remain in it.
    func remove(_ row: MirrorFolderRow, in root: Int32) throws {
        for name in [row.formerName, row.name].compactMap(\.self) {
            let number = openBeneath(root, name.text, O_RDONLY | O_DIRECTORY)
            guard number >= 0 else { continue }
            let folder = MirrorFolder(
                descriptor: Descriptor(number), calendar: row.calendar, path: "\(path)/\(name)", isEmpty: false)
            try removeLeftovers(in: folder)
            var last: RecordKey?
            while true {
                let after = last
                let files = try database.readBlocking {
                    try $0.calendarFiles.files(of: row.calendar, after: after, limit: Self.batch)
                }
                guard let end = files.last else { break }
                last = end.key
                for file in files { try removeFile(file, in: folder) }
            }
            if unlinkat(root, name.text, AT_REMOVEDIR) != 0, errno != ENOTEMPTY, errno != EEXIST, errno != ENOENT {
                throw Failure.system("removing \(folder.path)", errno)
            }
        }
        try database.writeBlocking { try $0.calendarFiles.removeFolder(of: row.calendar) }
    }
}
