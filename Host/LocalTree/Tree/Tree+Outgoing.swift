import CLinux
import Glibc
public import Model

/// The folder `outgoing/`, which lies beside `incoming/` and holds snapshots of files to upload. A snapshot belongs to
/// the record of its upload. It may be the only copy of a person's file: it is removed when the server has taken it, or
/// when the person gives the upload up.
extension Tree {
    /// The prefix of the names of snapshots.
    static let snapshotPrefix = "put-"

    /// The prefix of the names that snapshots have until their commands have locked them.
    static let unlockedPrefix = "new-"

    /// Opens a snapshot for reading.
    /// - Throws: `.localIO` if there is no such snapshot, or it cannot be read.
    public func snapshot(_ name: String) throws(Failure) -> Snapshot {
        let outgoing = staging.outgoing()
        let file = Descriptor(
            Self.isSnapshotName(name) ? openat(outgoing.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1)
        guard let info = file.status(), info.isRegular else {
            throw .system("opening the snapshot outgoing/\(name)", errno)
        }
        return Snapshot(file, size: Int64(info.st_size))
    }

    /// Removes a snapshot. It is no error if there is none.
    public func removeSnapshot(_ name: String) {
        guard Self.isSnapshotName(name) else { return }
        let outgoing = staging.outgoing()
        unlinkat(outgoing.number, name, 0)
    }

    /// Turns a snapshot into a complete download: moves it into `incoming/`, and reads it to compute its digest, unless
    /// it still has its mark. Nobody else writes in `outgoing/`, so that the mark proves its content.
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - download: The name in `incoming/`.
    ///   - modified: The modification time that the file gets.
    ///   - digest: The digest of the snapshot when it was taken.
    ///   - mark: Its mark then; nil if it was not noted.
    /// - Throws: `.localIO` if the snapshot is missing or cannot be moved or read.
    public func takeIn(
        snapshot name: String, as download: String, modified: Timestamp?, digest: [UInt8], mark: FileMark?
    ) throws(Failure) -> CompletedFile {
        guard Self.isSnapshotName(name), Self.isIncomingName(download) else {
            throw Failure(.internal, "outgoing/\(name) is not the name of a snapshot")
        }
        let outgoing = staging.outgoing()
        let incoming = try staging.openIncoming()
        let file = Descriptor(openat(outgoing.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
        let found = file.status().map { FileMark($0, now: clock()) }
        guard renameat(outgoing.number, name, incoming.number, download) == 0 else {
            throw .system("moving the snapshot outgoing/\(name)", errno)
        }
        file.removeTarget()
        guard let mark, found?.matches(mark) == true else {
            return try incomingFile(download).finish(modified: modified)
        }
        guard setTime(modified ?? clock(), of: file.number), let info = file.status() else {
            throw .system("setting the time of incoming/\(download)", errno)
        }
        return completed(download, digest: digest, FileMark(info, now: clock()))
    }

    /// Gives a snapshot a second name, in the tree. The snapshot stays until it is removed. When the function returns, the
    /// second name is on the disk.
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - path: The path in the tree. Missing folders on the way are made.
    ///   - modified: The modification time that the file gets.
    /// - Returns: The file's mark; nil if something is at the path, or in the way to it.
    /// - Throws: `.localIO` if the snapshot is missing, or cannot be put there.
    public func keepSnapshot(
        _ name: String, at path: ItemPath, modified: Timestamp?
    ) throws(Failure) -> FileMark? {
        let target: TreeLocation
        switch locate(path, makingFolders: true) {
        case .failure(.failed(let failure)): throw failure
        case .failure: return nil
        case .success(let location): target = location
        }
        let outgoing = staging.outgoing()
        let file = Descriptor(
            Self.isSnapshotName(name) ? openat(outgoing.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1)
        guard file.number >= 0 else { throw .system("opening the snapshot outgoing/\(name)", errno) }
        if let modified { _ = setTime(modified, of: file.number) }
        if linkat(outgoing.number, name, target.folder.number, target.name, 0) != 0 {
            let code = errno
            if code == EEXIST { return nil }
            // A file system without hard links.
            guard code == EPERM || code == EOPNOTSUPP || code == EMLINK,
                linux_rename_noreplace(outgoing.number, name, target.folder.number, target.name) == 0
            else {
                if errno == EEXIST { return nil }
                throw .system("keeping the snapshot outgoing/\(name) as \(localPath(of: path))", code)
            }
        }
        file.removeTarget()
        try syncData()
        guard let info = file.status() else { throw .system("reading \(localPath(of: path))", errno) }
        return FileMark(info, now: clock())
    }

    /// Removes the snapshots that belong to no upload and to no command that is about to request one, as its lock tells.
    /// - Parameters:
    ///   - age: The age from which on a snapshot belongs to no command, where the file system has no locks.
    ///   - needed: Returns the names of the snapshots that uploads need. An upload is requested before its command gives
    ///     up the lock, so that the names are asked for after the locks.
    /// - Throws: What `needed` throws; `.localIO` if `outgoing/` cannot be read.
    public func sweepOutgoing(olderThan age: Duration, keeping needed: () throws -> Set<String>) throws {
        let abandoned = try abandonedSnapshots(olderThan: age)
        guard !abandoned.isEmpty else { return }
        let needed = try needed()
        let outgoing = staging.outgoing()
        for name in abandoned where !needed.contains(name) { unlinkat(outgoing.number, name, 0) }
    }

    /// Returns the names of the snapshots that belong to no command that is about to request an upload.
    func abandonedSnapshots(olderThan age: Duration) throws(Failure) -> [String] {
        let outgoing = staging.outgoing()
        guard outgoing.number >= 0 else { return [] }
        let now = Timestamp.now()
        return try names(in: outgoing.number).filter { name in
            let isUnlocked = Self.isUnlockedName(name)
            guard Self.isSnapshotName(name) || isUnlocked, let info = status(of: name, in: outgoing.number),
                info.isRegular
            else { return false }
            let isOld = now - Timestamp(nanoseconds: Int64(info.st_ctim.tv_sec) * 1_000_000_000) > age
            switch canLock(name, of: outgoing) {
            case true?: return isOld || !isUnlocked
            case false?: return false
            case nil: return isOld
            }
        }
    }

    /// Tells whether nobody has a snapshot's lock; nil if the file system has no locks.
    private func canLock(_ name: String, of outgoing: borrowing Descriptor) -> Bool? {
        let file = Descriptor(openat(outgoing.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
        guard file.number >= 0 else { return nil }
        if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return true }
        let code = errno
        return code == EWOULDBLOCK ? false : nil
    }

    /// Tells whether a snapshot may have a name.
    package static func isSnapshotName(_ name: String) -> Bool {
        name.utf8.starts(with: snapshotPrefix.utf8) && isIncomingName(name)
    }

    private static func isUnlockedName(_ name: String) -> Bool {
        name.utf8.starts(with: unlockedPrefix.utf8) && isIncomingName(name)
    }
}

/// An open snapshot.
public final class Snapshot: Sendable {
    /// The size in bytes.
    public let size: Int64
    private let file: Descriptor

    init(_ file: consuming Descriptor, size: Int64) {
        self.file = file
        self.size = size
    }

    /// Reads bytes from a position on. Blocks.
    /// - Returns: The number of bytes that were read; 0 at the end.
    /// - Throws: `.localIO` if the snapshot cannot be read.
    public func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        while true {
            let count = pread(file.number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw .system("reading a snapshot", errno) }
        }
    }
}

/// A command's lock on the snapshot that it has taken. While it exists, the snapshot is not swept, though no upload needs
/// it yet. It ends with its process.
public final class SnapshotLock: Sendable {
    private let file: Descriptor

    init(_ file: consuming Descriptor) { self.file = file }

    fileprivate var isSynced: Bool { fsync(file.number) == 0 }
}

/// Taking snapshots of a person's files.
extension TakenSnapshot {
    /// Takes a snapshot of a file. It shares blocks with the file where the file system can do so. Works beside
    /// the process that has the vault open, with the rights of the calling process. Blocks.
    /// - Parameters:
    ///   - source: The path of the file. A symbolic link is followed.
    ///   - folder: The absolute path of `outgoing/`.
    ///   - target: The path to which the file is to be uploaded, which the snapshot names; nil if it is not known yet.
    ///   - withSHA1: Whether the SHA-1 digest is computed too, which servers of the ownCloud family compare.
    ///   - syncs: Whether the snapshot is on the disk when the function returns. Otherwise call ``sync(_:in:)`` before the
    ///     upload is requested.
    /// - Returns: The facts about the snapshot, and its lock, which is kept until the upload was requested.
    /// - Throws: `.notFound` if there is no such file; `.badData` if it is not a regular file; `.failed` if the file
    ///   changes all the while; `.localIO` if there is no room, or reading or writing fails.
    public static func take(
        of source: String, into folder: String, for target: ItemPath? = nil, withSHA1: Bool = true, syncs: Bool = true
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        let file = Descriptor(open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        guard file.number >= 0 else {
            // A socket cannot be opened, and neither can a device without a driver.
            guard errno == ENXIO || errno == ENODEV else { throw .reading(source, errno) }
            throw notRegular(source)
        }
        return try take(from: file.number, source, into: folder, for: target, withSHA1: withSHA1, syncs: syncs)
    }

    /// Writes snapshots to the disk that were taken without that. Blocks.
    /// - Parameters:
    ///   - locks: The snapshots' locks.
    ///   - folder: The absolute path of `outgoing/`.
    /// - Throws: `.localIO`. None of the snapshots may be used then.
    public static func sync(_ locks: [SnapshotLock], in folder: String) throws(Failure) {
        guard !locks.isEmpty else { return }
        let target = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard target.number >= 0 else { throw .system("opening \(folder)", errno) }
        // What others have written to the same file system is not to be waited for because of a few files.
        let isWhole =
            locks.count < fewSnapshots
            ? locks.allSatisfy(\.isSynced) && fsync(target.number) == 0 : linux_syncfs(target.number) == 0
        guard isWhole else {
            throw .system("writing the snapshots in \(folder) to the disk", errno)
        }
    }

    /// The number of snapshots from which on all of the file system is written to the disk.
    private static let fewSnapshots = 8

    /// Takes a snapshot of a file below a folder, as ``take(of:into:for:withSHA1:syncs:)``. No symbolic link is followed, and nothing
    /// outside of the folder, or on another file system, is opened.
    /// - Parameters:
    ///   - path: The file's path below the folder, without a slash before it.
    ///   - root: The absolute path of the folder, whose last name is no symbolic link either.
    ///   - folder: The absolute path of `outgoing/`.
    /// - Returns: The facts about the snapshot, and its lock, which is kept until the upload was requested.
    /// - Throws: As ``take(of:into:for:withSHA1:syncs:)``; `.denied` for a path that leaves the folder or has a symbolic link in it.
    public static func take(
        _ path: String, beneath root: String, into folder: String
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        let file = try openFile(path, beneath: root)
        return try take(from: file.number, "\(root)/\(path)", into: folder, for: nil, withSHA1: true, syncs: true)
    }

    /// Checks that a snapshot of a file below a folder could be taken.
    /// - Throws: What ``take(_:beneath:into:)`` throws of a file that is missing, out of reach or not regular.
    public static func check(_ path: String, beneath root: String) throws(Failure) {
        let file = try openFile(path, beneath: root)
        guard file.status()?.isRegular == true else { throw Failure(.badData, "\(root)/\(path) is not a regular file") }
    }

    private static func openFile(_ path: String, beneath root: String) throws(Failure) -> Descriptor {
        let folder = Descriptor(open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        guard folder.number >= 0 else { throw .system("opening \(root)", errno) }
        let number = openBeneath(folder.number, path, O_RDONLY | O_NONBLOCK)
        let code = errno
        guard number < 0 else { return Descriptor(number) }
        switch code {
        case ENOENT, ENOTDIR: throw Failure(.notFound, "There is no file \(root)/\(path)")
        case ELOOP, EXDEV: throw Failure(.denied, "\(root)/\(path) leads through a symbolic link or out of its folder")
        default: throw .system("opening \(root)/\(path)", code)
        }
    }

    private static func take(
        from file: Int32, _ source: String, into folder: String, for path: ItemPath?, withSHA1: Bool, syncs: Bool
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        let target = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard target.number >= 0 else { throw .system("opening \(folder)", errno) }
        var isAlwaysShort = true
        for _ in 0..<mostTries {
            guard let before = status(of: file) else { throw .system("reading \(source)", errno) }
            guard before.isRegular else {
                throw before.isFolder
                    ? Failure(.badData, "\(source) is a folder", hint: "Name a file") : notRegular(source)
            }
            let name = Tree.snapshotPrefix + randomHex(bytes: 16)
            do throws(Failure) {
                let (snapshot, lock) = try take(
                    file, before, source, as: name, in: target, for: path, withSHA1: withSHA1, syncs: syncs)
                guard let after = status(of: file) else { throw .system("reading \(source)", errno) }
                let isUnchanged = FileMark(before, now: .now()).matches(FileMark(after, now: .now()))
                if isUnchanged, snapshot.size == after.st_size { return (snapshot, lock) }
                // The kernel makes the content of such a file when it is read, and tells no size, or one that does not
                // hold.
                if snapshot.size > 0, after.st_size == 0 { throw notRegular(source) }
                if !isUnchanged || snapshot.size > after.st_size { isAlwaysShort = false }
            } catch {
                unlinkat(target.number, name, 0)
                throw error
            }
            unlinkat(target.number, name, 0)
        }
        if isAlwaysShort { throw notRegular(source) }
        throw Failure(
            .failed, "\(source) is being written, and was not taken", hint: "Repeat the command when it is complete")
    }

    private static func notRegular(_ source: String) -> Failure {
        Failure(.badData, "\(source) is not a regular file", hint: "Name a file")
    }

    private static func status(of file: Int32) -> stat? {
        var info = stat()
        return fstat(file, &info) == 0 ? info : nil
    }

    /// Removes the snapshot from its folder.
    public func discard(from folder: String) {
        if Tree.isSnapshotName(name) { unlink("\(folder)/\(name)") }
    }

    private static let mostTries = 3

    private static func take(
        _ source: Int32, _ info: stat, _ path: String, as name: String, in folder: borrowing Descriptor,
        for target: ItemPath?, withSHA1: Bool, syncs: Bool
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        // A sweep that finds the snapshot's name finds it locked.
        let unlocked = Tree.unlockedPrefix + name.dropFirst(Tree.snapshotPrefix.count)
        let number = openat(folder.number, unlocked, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system("making the snapshot of \(path)", errno) }
        let file = Descriptor(number)
        // A sweep that has found the file has the lock for a moment. Where the file system has no locks, the snapshot's age
        // tells that its command is over.
        while flock(file.number, LOCK_EX) != 0, errno == EINTR {}
        guard renameat(folder.number, unlocked, folder.number, name) == 0 else {
            let code = errno
            unlinkat(folder.number, unlocked, 0)
            throw .system("making the snapshot of \(path)", code)
        }
        // What the server is told is what the snapshot holds.
        var hash = ContentHash(also: withSHA1 ? [.sha1] : [])
        var size: Int64 = 0
        func take(_ piece: UnsafeRawBufferPointer) {
            hash.update(piece)
            size += Int64(piece.count)
        }
        if linux_clone_file(source, file.number) == 0 {
            let read = readAll(file.number) { piece in
                take(piece)
                return true
            }
            guard read == true else { throw .system("reading the snapshot of \(path)", errno) }
        } else {
            guard Int64(info.st_size) <= freeBytes(folder.number) else {
                throw .system("making the snapshot of \(path), \(info.st_size) bytes,", ENOSPC)
            }
            // A file that grows as fast as it is read would fill the disk. Its snapshot is not used.
            try copy(source, to: file.number, path) { piece in
                take(piece)
                return size <= info.st_size
            }
        }
        if let target { file.setTarget(target) }
        guard !syncs || fsync(file.number) == 0 && fsync(folder.number) == 0 else {
            throw .system("making the snapshot of \(path)", errno)
        }
        // Root's snapshot belongs to whoever the vault belongs to, who must read it.
        if geteuid() == 0, let owner = folder.status() { _ = fchown(file.number, owner.st_uid, owner.st_gid) }
        guard let own = file.status() else { throw .system("reading the snapshot of \(path)", errno) }
        var snapshot = TakenSnapshot(
            name: name, size: size, digest: hash.digest, sha1: hash.others[.sha1] ?? [],
            modified: FileMark(info, now: .now()).modified, mark: FileMark(own, now: .now()))
        snapshot.source = resolvedPath(path)
        return (snapshot, SnapshotLock(file))
    }

    /// Returns a file's absolute path without symbolic links. The file need not exist, but its folder must. Blocks.
    /// - Returns: nil if there is no such folder, or the path is not UTF-8.
    public static func resolvedPath(_ path: String) -> String? {
        func resolve(_ path: String) -> String? {
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            return String(validatingCString: resolved)
        }
        if let whole = resolve(path) { return whole }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard !name.isEmpty, let folder = resolve(slash.map { String(path[...$0]) } ?? ".") else { return nil }
        return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    /// The bytes that snapshots leave free for the database, which has to note what becomes of them; on a small file
    /// system a twentieth of it.
    private static let keptFree: Int64 = 16 << 20

    /// Returns the bytes that a snapshot may take.
    private static func freeBytes(_ folder: Int32) -> Int64 {
        var space = statvfs()
        guard fstatvfs(folder, &space) == 0 else { return .max }
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(space.f_frsize)).partialValue)
        }
        return max(0, bytes(space.f_bavail) - min(keptFree, bytes(space.f_blocks) / 20))
    }

    private static func copy(
        _ source: Int32, to file: Int32, _ path: String, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) {
        var code: Int32 = 0
        let read = readAll(source) { piece in
            var rest = piece[...]
            while !rest.isEmpty {
                let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    code = errno
                    return false
                }
                rest = rest.dropFirst(count)
            }
            return take(piece)
        }
        if code != 0 { throw .system("making the snapshot of \(path)", code) }
        if read == nil { throw .system("reading \(path)", errno) }
    }
}
