import CLinux
import Database
import Glibc
import LocalTree
import Model
import Synchronization

/// The part of the mirror that keeps the files that other programs changed.
extension CalendarMirror {
    /// The code of the issue about a calendar file that was changed here.
    public static let keptCode = "calendar.changed"

    /// The largest number of kept versions of one file.
    private static let most = 1_000

    /// Renames a file to a name that marks it as changed here, and files an issue about it.
    /// - Parameters:
    ///   - name: The present name of the file.
    ///   - file: The name of the file when it was changed.
    ///   - folder: The calendar's folder.
    /// - Throws: `.localIO` if all names are taken or the file cannot be renamed, or the database's `Failure`.
    func keep(_ name: String, besides file: MirrorName, in folder: borrowing MirrorFolder) throws {
        let (number, calendar) = (folder.descriptor.number, folder.calendar)
        var base = file
        var count = 1
        while count <= Self.most {
            let kept = base.changedHere(count)
            let isKnown = try database.readBlocking { try $0.calendarFiles.hasFile(named: kept, in: calendar) }
            guard !isKnown, status(of: kept.text, in: number) == nil else {
                count += 1
                continue
            }
            if errno == ENAMETOOLONG, base.shortened != base {
                base = base.shortened
                continue
            }
            // The issue is stored before the rename. If the host ends in between, its next start keeps the file.
            let issue = Issue.changedHere(file, as: kept, in: folder.path, at: clock())
            let stored = try database.writeBlocking { try $0.issues.file(issue) }
            if linux_rename_noreplace(number, name, number, kept.text) == 0 {
                self.kept.withLock { $0.append(stored) }
                return try hooks.reached(.kept)
            }
            let code = errno
            guard code == EEXIST else { throw Failure.system("renaming \(folder.path)/\(name)", code) }
            count += 1
        }
        throw Failure(
            .localIO, "All names for the changed version of \(folder.path)/\(file) are taken",
            hint: "Move the files that were kept there away")
    }

    /// Removes the issues about kept files that do not exist any more.
    func withdrawIssues() throws {
        let issues = try database.readBlocking { try $0.issues.all(code: Self.keptCode) }
        let gone = issues.filter { issue in
            var info = stat()
            return lstat("\(path)/\(issue.subject)", &info) != 0 && errno == ENOENT
        }
        guard !gone.isEmpty else { return }
        try database.writeBlocking { tx in for issue in gone { try tx.issues.remove(id: issue.id) } }
    }
}

extension Issue {
    /// Creates the issue about a file that was changed here.
    /// - Parameter folder: The absolute path of the calendar's folder.
    fileprivate static func changedHere(
        _ file: MirrorName, as kept: MirrorName, in folder: String, at time: Timestamp
    ) -> Issue {
        let name = folder[(folder.lastIndex(of: "/") ?? folder.startIndex)...].dropFirst()
        return Issue(
            code: CalendarMirror.keptCode, subject: "\(name)/\(kept)",
            message: "\(file) in \(folder) was changed here; the changed version is kept beside it, as \(kept)",
            choices: [Issue.Choice(id: "dismiss", label: "Leave the file where it is", impact: .nonDestructive)],
            created: time)
    }
}

extension Transaction {
    /// Updates the issues about kept files after a calendar's folder was renamed.
    func moveKept(from former: MirrorName, to name: MirrorName) throws {
        let prefix = "\(former)/"
        for issue in try issues.all(code: CalendarMirror.keptCode) where issue.subject.utf8.starts(with: prefix.utf8) {
            var moved = issue
            let file = issue.subject.utf8.dropFirst(prefix.utf8.count)
            moved.subject = "\(name)/\(String(decoding: file, as: UTF8.self))"
            moved.message = issue.message.replacing("/\(former) was changed here", with: "/\(name) was changed here")
            try issues.remove(id: issue.id)
            try issues.file(moved)
        }
    }
}
