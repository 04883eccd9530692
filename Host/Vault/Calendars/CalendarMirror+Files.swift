import CLinux
import Database
import Glibc
import LocalTree
import Model

extension CalendarMirror {
    /// A file that is written but not yet in its place.
    struct Prepared {
        var row: MirrorFileRow
        var temporary: Temporary
        /// Whether the object had no file before.
        var isNew: Bool { temporary.kind == .new }
    }

    /// The database's content for a file that is to be brought in line.
    private struct Wanted {
        var job: MirrorJob
        /// The content of the object; nil if the object is gone or has no content.
        var content: (id: CalendarContentID, bytes: [UInt8])?
        /// The name derived from the object's path.
        var name: MirrorName
        /// Whether no file of the calendar is recorded under this name. False, without a check, for an object that has
        /// a file or no content.
        var isNameUnrecorded: Bool
    }

    /// The size in bytes after which no further content is read before the contents read so far are written.
    private static let enough = 1 << 20

    /// Writes, replaces and removes the files of objects according to the present state of the database.
    func bring(_ jobs: [MirrorJob], in folder: borrowing MirrorFolder) throws {
        let calendar = folder.calendar
        var prepared: [Prepared] = []
        var adopted: [MirrorFileRow] = []
        var gone: [MirrorFileRow] = []
        var given: Set<MirrorName> = []
        var isDone = false
        defer { if !isDone { for file in prepared { unlinkat(folder.descriptor.number, file.temporary.name, 0) } } }
        var rest = jobs[...]
        while !rest.isEmpty {
            for wanted in try wanted(by: &rest, in: folder.calendar) {
                let job = wanted.job
                guard let content = wanted.content else {
                    if let file = job.file { gone.append(file) }
                    continue
                }
                if let file = job.file {
                    if file.contentID == content.id, isAsWritten(file, in: folder) { continue }
                    var next = try write(content.bytes, id: content.id, job.key, file.name, isNew: false, in: folder)
                    next.row.formerDigest = Self.ownDigest(of: file, in: folder)
                    prepared.append(next)
                    continue
                }
                let (name, isThere) = try freeName(
                    wanted.name, for: job.key, isUnrecorded: wanted.isNameUnrecorded, besides: given,
                    content: content.bytes, in: folder)
                given.insert(name)
                if isThere, let file = adopt(name, key: job.key, content.bytes, id: content.id, in: folder) {
                    adopted.append(file)
                } else {
                    prepared.append(try write(content.bytes, id: content.id, job.key, name, isNew: true, in: folder))
                }
            }
        }
        if !prepared.isEmpty || !adopted.isEmpty {
            let rows = prepared.map(\.row) + adopted
            try database.writeBlocking { tx in for row in rows { try tx.calendarFiles.store(row, in: calendar) } }
            try hooks.reached(.recorded)
        }
        isDone = true
        for (index, file) in prepared.enumerated() {
            do { try place(file, in: folder) } catch {
                takeBack(prepared[index...], in: folder)
                throw error
            }
        }
        for file in gone { try removeFile(file, in: folder) }
        if !gone.isEmpty {
            try database.writeBlocking { tx in
                for file in gone { try tx.calendarFiles.removeFile(of: file.key, in: calendar) }
            }
        }
    }

    /// Removes the next jobs from `jobs` and reads their contents in one transaction. A transaction for each job would
    /// take longer than writing its file.
    private func wanted(by jobs: inout ArraySlice<MirrorJob>, in calendar: RecordKey) throws -> [Wanted] {
        let (found, count) = try database.readBlocking { [jobs] reads in
            var found: [Wanted] = []
            var size = 0
            for job in jobs where size < Self.enough {
                let content = try reads.calendarFiles.content(of: job.key, in: calendar)
                let name = MirrorName.file(key: job.key)
                let isNew = job.file == nil && content != nil
                found.append(
                    Wanted(
                        job: job, content: content, name: name,
                        isNameUnrecorded: isNew ? try !reads.calendarFiles.hasFile(named: name, in: calendar) : false))
                size += content?.bytes.count ?? 0
            }
            return (found, found.count)
        }
        jobs = jobs.dropFirst(count)
        return found
    }

    /// Tells whether a file has the recorded mark and the permissions 0600.
    func isAsWritten(_ file: MirrorFileRow?, in folder: borrowing MirrorFolder) -> Bool {
        guard let file, let info = status(of: file.name.text, in: folder.descriptor.number) else { return false }
        return file.matches(info) && info.st_mode & 0o777 == 0o600
    }

    private func write(
        _ content: [UInt8], id: CalendarContentID, _ key: RecordKey, _ name: MirrorName, isNew: Bool,
        in folder: borrowing MirrorFolder
    ) throws -> Prepared {
        let temporary = Temporary(contentID: id, kind: isNew ? .new : .other)
        let path = "\(folder.path)/\(name)"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var number = openat(folder.descriptor.number, temporary.name, flags, 0o600)
        if number < 0, errno == EEXIST {
            unlinkat(folder.descriptor.number, temporary.name, 0)
            number = openat(folder.descriptor.number, temporary.name, flags, 0o600)
        }
        guard number >= 0 else { throw Failure.system("writing \(path)", errno) }
        let file = Descriptor(number)
        do {
            try hooks.reached(.writing)
            var done = 0
            while done < content.count {
                let count = content[done...].withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Failure.system("writing \(path)", errno) }
                done += count
            }
            guard let info = file.status() else { throw Failure.system("writing \(path)", errno) }
            try hooks.reached(.written)
            return Prepared(
                row: MirrorFileRow(key: key, name: name, contentID: id, info, Self.digest(content)),
                temporary: temporary)
        } catch {
            unlinkat(folder.descriptor.number, temporary.name, 0)
            throw error
        }
    }

    /// Takes back files that were not put in place: removes the rows of new files and all temporary files. If the rows
    /// cannot be removed, the next start recognizes the files that remain.
    private func takeBack(_ files: ArraySlice<Prepared>, in folder: borrowing MirrorFolder) {
        let calendar = folder.calendar
        do {
            try database.writeBlocking { tx in
                for file in files where file.isNew { try tx.calendarFiles.removeFile(of: file.row.key, in: calendar) }
            }
            for file in files { unlinkat(folder.descriptor.number, file.temporary.name, 0) }
        } catch {
            return
        }
    }

    /// Returns a name that neither another object's file nor another program's file has. A file with exactly the
    /// object's content may have the name already.
    /// - Parameters:
    ///   - isUnrecorded: Whether the wanted name is known to have no recorded file.
    ///   - given: Names that were given to other files but are not recorded yet.
    ///   - content: The object's content; nil if no existing file may have the name.
    /// - Returns: The name, and whether a file with the object's content has it already.
    func freeName(
        _ wanted: MirrorName, for key: RecordKey, isUnrecorded: Bool = false, besides given: Set<MirrorName>,
        content: [UInt8]?, in folder: borrowing MirrorFolder
    ) throws -> (name: MirrorName, isThere: Bool) {
        let (number, calendar) = (folder.descriptor.number, folder.calendar)
        var isThere = false
        let name = try wanted.firstFree(for: key) { name throws in
            if given.contains(name) { return .taken }
            let isFree = isUnrecorded && name == wanted
            if !isFree, try database.readBlocking({ try $0.calendarFiles.hasFile(named: name, in: calendar) }) {
                return .taken
            }
            isThere = status(of: name.text, in: number) != nil
            guard isThere else { return errno == ENAMETOOLONG ? .tooLong : .free }
            return content.map { Self.hasContent($0, name, in: number) } == true ? .free : .taken
        }
        return (name, isThere)
    }

    /// Returns a row for an existing file with exactly the object's content, for example after the database was created
    /// anew; nil if there is no such file.
    private func adopt(
        _ name: MirrorName, key: RecordKey, _ content: [UInt8], id: CalendarContentID, in folder: borrowing MirrorFolder
    ) -> MirrorFileRow? {
        let number = folder.descriptor.number
        guard status(of: name.text, in: number) != nil, Self.hasContent(content, name, in: number),
            let info = status(of: name.text, in: number), info.st_mode & 0o777 == 0o600
        else { return nil }
        return MirrorFileRow(key: key, name: name, contentID: id, info, Self.digest(content))
    }

    private static func hasContent(_ content: [UInt8], _ name: MirrorName, in folder: Int32) -> Bool {
        guard let info = status(of: name.text, in: folder), info.isRegular, info.st_uid == geteuid(),
            info.st_mode & 0o777 == 0o600, info.st_size == content.count
        else { return false }
        let number = openForReading(name.text, in: folder)
        guard number >= 0 else { return false }
        let file = Descriptor(number)
        var bytes = [UInt8](repeating: 0, count: content.count + 1)
        return pread(file.number, &bytes, bytes.count, 0) == content.count && bytes.dropLast().elementsEqual(content)
    }
}

extension MirrorFileRow {
    fileprivate init(key: RecordKey, name: MirrorName, contentID: CalendarContentID, _ info: stat, _ digest: [UInt8]) {
        self.init(
            key: key, name: name, contentID: contentID, inode: UInt64(info.st_ino), size: Int64(info.st_size),
            modified: Self.modified(info), digest: digest)
    }

    func matches(_ info: stat) -> Bool {
        info.isRegular && UInt64(info.st_ino) == inode && Int64(info.st_size) == size && Self.modified(info) == modified
    }

    private static func modified(_ info: stat) -> Int64 { Timestamp(info.st_mtim).nanoseconds }
}
