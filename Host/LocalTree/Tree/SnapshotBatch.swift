import CLinux
import Glibc
public import Model

/// A command's lock on the snapshots that it has taken. While it exists, they are not swept, though no upload needs them
/// yet. It ends with its process.
///
/// The snapshots of a batch have the lock of the first one. When that one leaves `outgoing/`, the uploads of all of them
/// were requested.
public final class SnapshotLock: Sendable {
    private let file: Descriptor

    fileprivate init(_ file: consuming Descriptor) { self.file = file }
}

/// Snapshots of a person's files that are taken one after the other, and whose uploads are requested together. Works
/// beside the process that has the vault open, with the rights of the calling process. All functions block. The object
/// belongs to one thread.
///
///     let batch = try SnapshotBatch(in: outgoing)
///     for file in files { snapshots.append(try batch.take(file.name, for: file.path)) }
///     try batch.sync()
///     request(snapshots, keeping: batch.lock)
public final class SnapshotBatch {
    /// The lock, which is kept until the uploads were requested; nil if there is no snapshot.
    public private(set) var lock: SnapshotLock?
    private let path: String
    private let folder: Descriptor
    /// Whoever the vault belongs to, who must read root's snapshots; nil if the process is not root.
    private let owner: (user: uid_t, group: gid_t)?
    private let withSHA1: Bool
    private var first = ""
    /// The number of names that were given.
    private var count = 0
    /// The snapshots that are not known to be on the disk.
    private var unsynced: [String] = []
    /// The folder of the last file, and its path without symbolic links.
    private var source: (folder: String, resolved: String?)?
    /// The file systems that share no blocks with that of the vault.
    private var unshared: Set<dev_t> = []

    /// Opens the folder.
    /// - Parameters:
    ///   - folder: The absolute path of `outgoing/`.
    ///   - withSHA1: Whether the SHA-1 digests are computed too, which servers of the ownCloud family compare.
    /// - Throws: `.localIO` if it cannot be opened.
    public init(in folder: String, withSHA1: Bool = true) throws(Failure) {
        (path, self.withSHA1) = (folder, withSHA1)
        let opened = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard opened.number >= 0 else { throw .system("opening \(folder)", errno) }
        owner = geteuid() == 0 ? opened.status().map { ($0.st_uid, $0.st_gid) } : nil
        self.folder = opened
    }

    /// Takes a snapshot of a file. It shares blocks with the file where the file system can do so. It is on the disk after
    /// ``sync()``.
    /// - Parameters:
    ///   - source: The path of the file.
    ///   - target: The path to which the file is to be uploaded, which the snapshot names; nil if it is not known yet.
    ///   - followsLink: Whether a symbolic link stands for the file that it leads to.
    /// - Returns: The facts about the snapshot.
    /// - Throws: `.notFound` if there is no such file; `.badData` if it is not a regular file; `.failed` if the file
    ///   changes all the while; `.localIO` if there is no room, or reading or writing fails.
    public func take(
        _ source: String, for target: ItemPath? = nil, followsLink: Bool = true
    ) throws(Failure) -> TakenSnapshot {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        var number = open(source, flags | O_NOFOLLOW)
        let isLink = number < 0 && errno == ELOOP
        if isLink, followsLink { number = open(source, flags) }
        let code = errno
        let file = Descriptor(number)
        guard file.number >= 0 else {
            // A socket cannot be opened, and neither can a device without a driver.
            guard code == ENXIO || code == ENODEV || code == ELOOP else { throw .reading(source, code) }
            throw Self.notRegular(source)
        }
        return try take(from: file.number, source, for: target, isLink: isLink)
    }

    /// Takes a snapshot of a file below a folder, as ``take(_:for:followsLink:)``. No symbolic link is followed, and
    /// nothing outside of the folder, or on another file system, is opened.
    /// - Parameters:
    ///   - path: The file's path below the folder, without a slash before it.
    ///   - root: The absolute path of the folder, whose last name is no symbolic link either.
    /// - Returns: The facts about the snapshot.
    /// - Throws: As ``take(_:for:followsLink:)``; `.denied` for a path that leaves the folder or has a symbolic link in
    ///   it.
    public func take(_ path: String, beneath root: String) throws(Failure) -> TakenSnapshot {
        let file = try Self.openFile(path, beneath: root)
        return try take(from: file.number, "\(root)/\(path)", for: nil, isLink: false)
    }

    /// Writes the snapshots to the disk. Their uploads are requested afterwards.
    /// - Throws: `.localIO`. None of the snapshots may be used then.
    public func sync() throws(Failure) {
        guard !unsynced.isEmpty else { return }
        // What others have written to the same file system is not to be waited for because of a few files.
        let isWhole =
            unsynced.count < Self.fewSnapshots
            ? unsynced.allSatisfy(isSynced) && fsync(folder.number) == 0 : linux_syncfs(folder.number) == 0
        guard isWhole else { throw .system("writing the snapshots in \(path) to the disk", errno) }
        unsynced = []
    }

    /// The number of snapshots from which on all of the file system is written to the disk.
    private static let fewSnapshots = 8

    private func isSynced(_ name: String) -> Bool {
        let file = Descriptor(openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
        return file.number >= 0 && fsync(file.number) == 0
    }

    // MARK: Files

    /// Checks that a snapshot of a file below a folder could be taken.
    /// - Throws: What ``take(_:beneath:)`` throws of a file that is missing, out of reach or not regular.
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

    private static func notRegular(_ source: String) -> Failure {
        Failure(.badData, "\(source) is not a regular file", hint: "Name a file")
    }

    private static func status(of file: Int32) -> stat? {
        var info = stat()
        return fstat(file, &info) == 0 ? info : nil
    }

    /// Returns a file's absolute path without symbolic links.
    /// - Parameter isLink: Whether the file's name is a symbolic link.
    private func resolved(_ path: String, isLink: Bool) -> String? {
        guard !isLink else { return TakenSnapshot.resolvedPath(path) }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { String(path[...$0]) } ?? "."
        if source.map({ !$0.folder.hasSameBytes(as: parent) }) ?? true {
            source = (parent, TakenSnapshot.resolve(parent))
        }
        guard let folder = source?.resolved else { return nil }
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    // MARK: Snapshots

    private static let mostTries = 3

    private func take(
        from file: Int32, _ source: String, for target: ItemPath?, isLink: Bool
    ) throws(Failure) -> TakenSnapshot {
        var isAlwaysShort = true
        for _ in 0..<Self.mostTries {
            guard let before = Self.status(of: file) else { throw .system("reading \(source)", errno) }
            guard before.isRegular else {
                throw before.isFolder
                    ? Failure(.badData, "\(source) is a folder", hint: "Name a file") : Self.notRegular(source)
            }
            let name: String
            if lock == nil {
                name = Tree.snapshotPrefix + randomHex(bytes: 16)
            } else {
                count += 1
                name = Tree.snapshotName(count, after: first)
            }
            do throws(Failure) {
                let copy = Descriptor(try make(name, of: source))
                var snapshot = try fill(copy, from: file, before, source, as: name, for: target)
                guard let after = Self.status(of: file) else { throw .system("reading \(source)", errno) }
                let isUnchanged = FileMark(before, now: .now()).matches(FileMark(after, now: .now()))
                if isUnchanged, snapshot.size == after.st_size {
                    snapshot.source = resolved(source, isLink: isLink)
                    unsynced.append(name)
                    if lock == nil { (first, lock) = (name, SnapshotLock(copy)) }
                    return snapshot
                }
                // The kernel makes the content of such a file when it is read, and tells no size, or one that does not
                // hold.
                if snapshot.size > 0, after.st_size == 0 { throw Self.notRegular(source) }
                if !isUnchanged || snapshot.size > after.st_size { isAlwaysShort = false }
            } catch {
                unlinkat(folder.number, name, 0)
                throw error
            }
            unlinkat(folder.number, name, 0)
        }
        if isAlwaysShort { throw Self.notRegular(source) }
        throw Failure(
            .failed, "\(source) is being written, and was not taken", hint: "Repeat the command when it is complete")
    }

    /// Makes an empty snapshot, and locks it if it is the first one.
    /// - Returns: Its descriptor.
    private func make(_ name: String, of path: String) throws(Failure) -> Int32 {
        let isFirst = lock == nil
        // A sweep that finds the snapshot's name finds it locked.
        let unlocked = isFirst ? Tree.unlockedPrefix + name.dropFirst(Tree.snapshotPrefix.count) : name
        let number = openat(folder.number, unlocked, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system("making the snapshot of \(path)", errno) }
        guard isFirst else { return number }
        // A sweep that has found the file has the lock for a moment. Where the file system has no locks, the snapshot's
        // age tells that its command is over.
        while flock(number, LOCK_EX) != 0, errno == EINTR {}
        guard renameat(folder.number, unlocked, folder.number, name) == 0 else {
            let code = errno
            unlinkat(folder.number, unlocked, 0)
            close(number)
            throw .system("making the snapshot of \(path)", code)
        }
        return number
    }

    /// Fills a snapshot.
    private func fill(
        _ file: borrowing Descriptor, from source: Int32, _ info: stat, _ path: String, as name: String,
        for target: ItemPath?
    ) throws(Failure) -> TakenSnapshot {
        // What the server is told is what the snapshot holds.
        var hash = ContentHash(also: withSHA1 ? [.sha1] : [])
        var size: Int64 = 0
        func take(_ piece: UnsafeRawBufferPointer) {
            hash.update(piece)
            size += Int64(piece.count)
        }
        if shares(source, info.st_dev, with: file.number) {
            let read = readAll(file.number, expecting: info.st_size) { piece in
                take(piece)
                return true
            }
            guard read == true else { throw .system("reading the snapshot of \(path)", errno) }
        } else {
            guard Int64(info.st_size) <= freeBytes else {
                throw .system("making the snapshot of \(path), \(info.st_size) bytes,", ENOSPC)
            }
            // A file that grows as fast as it is read would fill the disk. Its snapshot is not used.
            try copy(source, info.st_size, to: file.number, path) { piece in
                take(piece)
                return size <= info.st_size
            }
        }
        if let target { file.setTarget(target) }
        guard var own = file.status() else { throw .system("reading the snapshot of \(path)", errno) }
        if let owner, owner != (own.st_uid, own.st_gid), fchown(file.number, owner.user, owner.group) == 0,
            let changed = file.status()
        {
            own = changed
        }
        return TakenSnapshot(
            name: name, size: size, digest: hash.digest, sha1: hash.others[.sha1] ?? [],
            modified: FileMark(info, now: .now()).modified, mark: FileMark(own, now: .now()))
    }

    /// Has a snapshot share the blocks of a file.
    /// - Returns: False if the file system cannot do so.
    private func shares(_ source: Int32, _ device: dev_t, with file: Int32) -> Bool {
        guard !unshared.contains(device) else { return false }
        if linux_clone_file(source, file) == 0 { return true }
        if errno == EOPNOTSUPP || errno == EXDEV { unshared.insert(device) }
        return false
    }

    /// The bytes that snapshots leave free for the database, which has to note what becomes of them; on a small file
    /// system a twentieth of it.
    private static let keptFree: Int64 = 16 << 20

    /// The bytes that a snapshot may take.
    private var freeBytes: Int64 {
        var space = statvfs()
        guard fstatvfs(folder.number, &space) == 0 else { return .max }
        func bytes(_ blocks: fsblkcnt_t) -> Int64 {
            Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(space.f_frsize)).partialValue)
        }
        return max(0, bytes(space.f_bavail) - min(Self.keptFree, bytes(space.f_blocks) / 20))
    }

    private func copy(
        _ source: Int32, _ size: off_t, to file: Int32, _ path: String, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) {
        var code: Int32 = 0
        let read = readAll(source, expecting: size) { piece in
            guard writeAll(piece, to: file) else {
                code = errno
                return false
            }
            return take(piece)
        }
        if code != 0 { throw .system("making the snapshot of \(path)", code) }
        if read == nil { throw .system("reading \(path)", errno) }
    }
}

extension TakenSnapshot {
    /// Takes a snapshot of one file, which is on the disk when the function returns. Blocks.
    /// - Parameters:
    ///   - source: The path of the file. A symbolic link is followed.
    ///   - folder: The absolute path of `outgoing/`.
    ///   - target: The path to which the file is to be uploaded, which the snapshot names; nil if it is not known yet.
    ///   - withSHA1: Whether the SHA-1 digest is computed too, which servers of the ownCloud family compare.
    /// - Returns: The facts about the snapshot, and its lock, which is kept until the upload was requested.
    /// - Throws: As ``SnapshotBatch/take(_:for:followsLink:)``.
    public static func take(
        of source: String, into folder: String, for target: ItemPath? = nil, withSHA1: Bool = true
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        try alone(in: folder, withSHA1: withSHA1) { batch throws(Failure) in try batch.take(source, for: target) }
    }

    /// Takes a snapshot of one file below a folder, as ``SnapshotBatch/take(_:beneath:)``. It is on the disk when the
    /// function returns. Blocks.
    /// - Returns: The facts about the snapshot, and its lock, which is kept until the upload was requested.
    public static func take(
        _ path: String, beneath root: String, into folder: String
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        try alone(in: folder, withSHA1: true) { batch throws(Failure) in try batch.take(path, beneath: root) }
    }

    private static func alone(
        in folder: String, withSHA1: Bool, _ take: (SnapshotBatch) throws(Failure) -> TakenSnapshot
    ) throws(Failure) -> (TakenSnapshot, SnapshotLock) {
        let batch = try SnapshotBatch(in: folder, withSHA1: withSHA1)
        let snapshot = try take(batch)
        do throws(Failure) { try batch.sync() } catch {
            snapshot.discard(from: folder)
            throw error
        }
        guard let lock = batch.lock else { throw Failure(.internal, "The snapshot \(snapshot.name) has no lock") }
        return (snapshot, lock)
    }

    /// Removes the snapshot from its folder.
    public func discard(from folder: String) {
        if Tree.isSnapshotName(name) { unlink("\(folder)/\(name)") }
    }

    /// Returns a file's absolute path without symbolic links. The file need not exist, but its folder must. Blocks.
    /// - Returns: nil if there is no such folder, or the path is not UTF-8.
    public static func resolvedPath(_ path: String) -> String? {
        if let whole = resolve(path) { return whole }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard !name.isEmpty, let folder = resolve(slash.map { String(path[...$0]) } ?? ".") else { return nil }
        return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    fileprivate static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }
}
