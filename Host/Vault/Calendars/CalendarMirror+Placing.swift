import CLinux
import Database
import Digests
import Glibc
import LocalTree
import Model

/// The part of the mirror that puts files in place and removes them. Only files that Larder wrote are removed.
extension CalendarMirror {
    /// Puts a complete file in place. A reader sees the old file or the new file.
    ///
    /// The new file is exchanged with the present one in a single step. The replaced file is checked afterwards, when
    /// no program finds it by its name any more.
    func place(_ file: Prepared, in folder: borrowing MirrorFolder) throws {
        var file = file
        let number = folder.descriptor.number
        if !file.isNew { try moveAside(file.temporary.name, to: &file.temporary, in: folder) }
        while true {
            let there = status(of: file.row.name.text, in: number)
            if let there, !there.isFolder, !file.isNew {
                if linux_rename_exchange(number, file.temporary.name, number, file.row.name.text) == 0 {
                    try hooks.reached(.placed)
                    return try resolve(file.temporary, of: file.row, in: folder)
                }
                guard errno == ENOENT else { throw writing(file, in: folder) }
                continue
            }
            if there == nil {
                if linux_rename_noreplace(number, file.temporary.name, number, file.row.name.text) == 0 {
                    return try hooks.reached(.placed)
                }
                guard errno == EEXIST else { throw writing(file, in: folder) }
                if !file.isNew { continue }
            }
            // Another program's entry has the name: the name was free before, or the entry is a folder.
            let name = MirrorName.file(key: file.row.key)
            file.row.name = try freeName(name, for: file.row.key, besides: [], content: nil, in: folder).name
            let (row, calendar) = (file.row, folder.calendar)
            try database.writeBlocking { try $0.calendarFiles.store(row, in: calendar) }
        }
    }

    private func writing(_ file: Prepared, in folder: borrowing MirrorFolder) -> Failure {
        .system("writing \(folder.path)/\(file.row.name)", errno)
    }

    /// Removes the file of a deleted object. A file that another program changed is kept beside.
    func removeFile(_ file: MirrorFileRow, in folder: borrowing MirrorFolder) throws {
        guard let there = status(of: file.name.text, in: folder.descriptor.number), !there.isFolder else { return }
        var aside = Temporary(contentID: file.contentID, kind: .other)
        try moveAside(file.name.text, to: &aside, in: folder)
        try resolve(aside, of: file, in: folder)
        try hooks.reached(.removed)
    }

    /// Renames a file to its `aside` name. A file with such a name may not be Larder's own and is checked before it is
    /// removed.
    private func moveAside(
        _ name: String, to temporary: inout Temporary, in folder: borrowing MirrorFolder
    ) throws {
        let number = folder.descriptor.number
        temporary.kind = .aside
        guard linux_rename_noreplace(number, name, number, temporary.name) == 0 else {
            throw Failure.system("renaming \(folder.path)/\(name)", errno)
        }
        try hooks.reached(.aside)
    }

    /// Removes a file that was set aside if Larder wrote it. Otherwise keeps it under a name that says so.
    /// - Parameter row: The row of the file that has or had the place; nil if there is no such row.
    private func resolve(_ aside: Temporary, of row: MirrorFileRow?, in folder: borrowing MirrorFolder) throws {
        if let row, isOwn(aside.name, row, in: folder) {
            guard unlinkat(folder.descriptor.number, aside.name, 0) == 0 || errno == ENOENT else {
                throw Failure.system("removing \(folder.path)/\(row.name)", errno)
            }
        } else {
            try keep(aside.name, besides: row?.name ?? MirrorName("object.ics"), in: folder)
        }
    }

    /// Removes the temporary files of an interrupted pass, and checks the files that it set aside. Removes the rows of
    /// new files that the pass did not put in place.
    func removeLeftovers(in folder: borrowing MirrorFolder) throws {
        let calendar = folder.calendar
        for name in try names(in: folder.descriptor.number) where name.utf8.starts(with: Temporary.prefix.utf8) {
            guard let left = Temporary(name) else { continue }
            if left.kind == .aside {
                let row = try database.readBlocking {
                    try $0.calendarFiles.file(contentID: left.contentID, in: calendar)
                }
                try resolve(left, of: row, in: folder)
                continue
            }
            if left.kind == .new {
                try database.writeBlocking { try $0.calendarFiles.removeFile(contentID: left.contentID, in: calendar) }
            }
            guard unlinkat(folder.descriptor.number, name, 0) == 0 || errno == ENOENT else {
                throw Failure.system("removing \(folder.path)/\(name)", errno)
            }
        }
    }

    // MARK: Recognizing Larder's own files

    /// Tells whether a file has the content that Larder wrote and no program is writing to it.
    private func isOwn(_ name: String, _ row: MirrorFileRow, in folder: borrowing MirrorFolder) -> Bool {
        let number = openForReading(name, in: folder.descriptor.number)
        guard number >= 0 else { return false }
        let file = Descriptor(number)
        do throws(Lease.Denial) {
            let lease = try Lease(file.number, .unwritten)
            return Self.holdsOwn(file.number, row) && lease.isUncontested
        } catch {
            // Some file systems have no leases.
            return error == .unavailable && Self.holdsOwn(file.number, row)
        }
    }

    private static func holdsOwn(_ file: Int32, _ row: MirrorFileRow) -> Bool {
        var info = stat()
        guard fstat(file, &info) == 0, info.isRegular else { return false }
        // An empty file has no content to lose. A power cut may leave such a file.
        if info.st_size == 0 || row.digest == nil && row.matches(info) { return true }
        guard let found = digest(of: file) else { return false }
        return found == row.digest || found == row.formerDigest
    }

    /// Returns the digest of the content that Larder last wrote to the file now in place.
    static func ownDigest(of row: MirrorFileRow, in folder: borrowing MirrorFolder) -> [UInt8]? {
        let number = openForReading(row.name.text, in: folder.descriptor.number)
        guard number >= 0 else { return row.digest }
        let file = Descriptor(number)
        guard let info = file.status(), info.isRegular else { return row.digest }
        let isAsWritten = row.matches(info)
        if isAsWritten, let digest = row.digest { return digest }
        let found = digest(of: file.number)
        return isAsWritten || found == row.formerDigest ? found : row.digest
    }

    static func digest(_ content: [UInt8]) -> [UInt8] { MessageDigest.of(content) }

    private static func digest(of file: Int32) -> [UInt8]? {
        var hash = ContentHash()
        let isWhole = readAll(file) { piece in
            hash.update(piece)
            return true
        }
        return isWhole == true ? hash.digest : nil
    }
}

/// The name of a file outside its place. If a start finds such a file, the name tells its state.
struct Temporary {
    enum Kind: String {
        /// A file being written for an object that has no file yet.
        case new
        /// A file being written for an object that has a file.
        case other
        /// A file that is completely written and recorded, or a file that was taken from its place.
        case aside
    }

    static let prefix = ".larder-"
    let contentID: CalendarContentID
    var kind: Kind

    init(contentID: CalendarContentID, kind: Kind) {
        self.contentID = contentID
        self.kind = kind
    }

    /// Parses a name; nil if it is not a temporary name.
    init?(_ name: String) {
        let parts = name.utf8.dropFirst(Self.prefix.utf8.count).split(separator: UInt8(ascii: "."))
        guard parts.count == 2, let id = Int64(String(decoding: parts[0], as: UTF8.self)),
            let kind = Kind(rawValue: String(decoding: parts[1], as: UTF8.self))
        else { return nil }
        self.init(contentID: CalendarContentID(id), kind: kind)
    }

    var name: String { "\(Self.prefix)\(contentID).\(kind.rawValue)" }
}
