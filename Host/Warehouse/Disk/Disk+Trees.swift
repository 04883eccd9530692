import CLinux
import Glibc

extension Disk {
    /// The targets that symbolic links may have in a copied tree.
    enum Links {
        /// Targets in the tree itself only.
        case inside
        /// Any target. The links are copied unchanged.
        case any
    }

    /// Copies a folder with everything in it, and records the files and folders to make durable. A copied file shares
    /// its blocks with the original if the file system supports that. It never shares the inode.
    /// - Parameters:
    ///   - target: The path of the copy; nothing may exist there.
    ///   - depth: The number of folders of the tree above this one.
    /// - Throws: ``ProjectProblem/badSource(path:why:)``, or the error of the system call that failed.
    func copyFolder(_ source: Path, to target: Path, links: Links, depth: Int = 0, _ written: inout Written) throws {
        try makeFolder(target)
        let mode = try openFolder(source).mode(self)
        for name in try names(in: source) {
            let (from, to) = (source.entry(name), target.entry(name))
            guard let info = try status(from) else { continue }
            if info.isFolder {
                try copyFolder(from, to: to, links: links, depth: depth + 1, &written)
            } else if info.isRegular {
                try copyFile(from, to: to)
                written.files.append(to)
            } else if info.isSymbolicLink {
                let text = try links == .inside ? innerLink(from, depth: depth) : linkTarget(of: from)
                try perform(.symlink, to) { symlink(text, to.bytes) }
            } else {
                throw Self.foreignKind(from)
            }
        }
        // The entries of a copy must stay removable.
        try perform(.mkdir, target) { chmod(target.bytes, mode & 0o777 | 0o700) }
        written.folders.append(target)
    }

    /// Checks a folder that is to be moved as ``copyFolder(_:to:links:depth:_:)`` checks one that is copied, and
    /// records the files and folders to make durable.
    /// - Throws: ``ProjectProblem/badSource(path:why:)``, ``ProjectProblem/sourceElsewhere(path:)``, or the error of
    ///   the system call that failed.
    func collect(_ source: Path, on device: dev_t, depth: Int = 0, _ written: inout Written) throws {
        for name in try names(in: source) {
            let path = source.entry(name)
            guard let info = try status(path) else { continue }
            guard info.st_dev == device else { throw ProjectProblem.sourceElsewhere(path: path.text) }
            if info.isFolder {
                try collect(path, on: device, depth: depth + 1, &written)
            } else if info.isRegular {
                written.files.append(path)
            } else if info.isSymbolicLink {
                _ = try innerLink(path, depth: depth)
            } else {
                throw Self.foreignKind(path)
            }
        }
        written.folders.append(source)
    }

    /// Returns the target of a symbolic link that does not leave the tree.
    /// - Throws: ``ProjectProblem/badSource(path:why:)`` if the link leaves the tree.
    private func innerLink(_ path: Path, depth: Int) throws -> [CChar] {
        let text = try linkTarget(of: path)
        guard Self.leadsInside(text, depth: depth) else {
            throw ProjectProblem.badSource(path: path.text, why: "it is a symbolic link to a target outside the folder")
        }
        return text
    }

    private static func foreignKind(_ path: Path) -> ProjectProblem {
        .badSource(path: path.text, why: "it is not a file, folder or symbolic link")
    }

    /// Copies the content, permissions and modification time of a regular file.
    func copyFile(_ source: Path, to target: Path) throws {
        let from = try open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let info = try status(from)
        let to = try open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        do throws(SystemCallError) {
            try perform(.clone, target) { linux_clone_file(from.number, to.number) }
        } catch {
            if [EIO, ENOSPC, EDQUOT].contains(error.code) { throw error }
            try copyBytes(of: from, size: Int(info.st_size), to: to)
        }
        try perform(.utimens, target) { fchmod(to.number, info.st_mode & 0o777) }
        var times = [timespec(tv_sec: 0, tv_nsec: linux_utime_omit), info.st_mtim]
        try perform(.utimens, target) { futimens(to.number, &times) }
    }

    private func copyBytes(
        of from: borrowing Descriptor, size: Int, to: borrowing Descriptor
    ) throws(SystemCallError) {
        let (number, path) = (from.number, from.path)
        var block = [UInt8](repeating: 0, count: min(max(size, 4_096), 1 << 20))
        while true {
            let count = try perform(.read, path) {
                block.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
            }
            if count == 0 { return }
            try write(block[..<count], to: to)
        }
    }

    private func linkTarget(of path: Path) throws(SystemCallError) -> [CChar] {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = try perform(.readlink, path) { readlink(path.bytes, &text, text.count - 1) }
        return text[..<count] + [0]
    }

    /// Tells whether a link's target goes up at most to the root of the tree, and only down after that. A target that
    /// goes up after it went down might leave the tree through another link.
    private static func leadsInside(_ text: [CChar], depth: Int) -> Bool {
        let names = Path(bytes: text).text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard names.first?.isEmpty == false else { return false }
        let isUp = names.map { $0.elementsEqual("..".utf8) }
        let ups = isUp.prefix { $0 }.count
        return ups <= depth && !isUp[ups...].contains(true)
    }

    /// Removes the entry at a path, with everything in it. Does nothing if there is no entry.
    func removeTree(_ path: Path) throws(SystemCallError) {
        guard let info = try status(path) else { return }
        guard info.isFolder else { return try removeFile(path) }
        if info.st_mode & 0o700 != 0o700 { try perform(.mkdir, path) { chmod(path.bytes, 0o700) } }
        for name in try names(in: path) { try removeTree(path.entry(name)) }
        try removeFolder(path)
    }

    /// Returns the total size of all regular files below a folder, in bytes. Entries that disappear meanwhile are not
    /// counted.
    func size(of folder: Path) throws(SystemCallError) -> UInt64 {
        var size: UInt64 = 0
        for name in try names(in: folder) {
            let path = folder.entry(name)
            guard let info = try status(path) else { continue }
            if info.isRegular { size = size.adding(UInt64(max(0, info.st_size))) }
            guard info.isFolder else { continue }
            do throws(SystemCallError) {
                size = size.adding(try self.size(of: path))
            } catch {
                if error.code != ENOENT { throw error }
            }
        }
        return size
    }
}

extension Descriptor {
    fileprivate consuming func mode(_ disk: Disk) throws(SystemCallError) -> mode_t { try disk.status(self).st_mode }
}
