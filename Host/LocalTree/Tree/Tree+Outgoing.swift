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
    public func snapshot(_ name: String) throws(Failure) -> Snapshot { try openSnapshots().snapshot(name) }

    /// Opens the folder, for reading several snapshots.
    public func openSnapshots() -> SnapshotFolder { SnapshotFolder(staging.outgoing()) }

    /// Removes a snapshot. It is no error if there is none.
    public func removeSnapshot(_ name: String) {
        guard Self.isSnapshotName(name) else { return }
        let outgoing = staging.outgoing()
        unlinkat(outgoing.number, name, 0)
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
            switch canLock(Self.lockName(of: name), of: outgoing) {
            case true?: return isOld || !isUnlocked
            case false?: return false
            case nil: return isOld
            }
        }
    }

    /// Tells whether nobody has the lock of a snapshot, or it is gone; nil if the file system has no locks.
    private func canLock(_ name: String, of outgoing: borrowing Descriptor) -> Bool? {
        let file = Descriptor(openat(outgoing.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
        guard file.number >= 0 else { return errno == ENOENT ? true : nil }
        if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return true }
        let code = errno
        return code == EWOULDBLOCK ? false : nil
    }

    /// Tells whether a snapshot may have a name.
    package static func isSnapshotName(_ name: String) -> Bool {
        name.utf8.starts(with: snapshotPrefix.utf8) && isIncomingName(name)
    }

    /// Returns the name of the ``number``th snapshot that a command takes together with another.
    /// - Parameters:
    ///   - first: The name of the first one, whose lock is that of all.
    ///   - number: The number of snapshots before it.
    static func snapshotName(_ number: Int, after first: String) -> String { "\(first)-\(number)" }

    /// Returns the name of the snapshot whose lock a snapshot has: its own, or that of the first one that was taken with it.
    private static func lockName(of name: String) -> String {
        guard isSnapshotName(name), let dash = name.dropFirst(snapshotPrefix.count).firstIndex(of: "-") else {
            return name
        }
        return String(name[..<dash])
    }

    private static func isUnlockedName(_ name: String) -> Bool {
        name.utf8.starts(with: unlockedPrefix.utf8) && isIncomingName(name)
    }
}

/// The folder of snapshots, which stays open.
public final class SnapshotFolder: Sendable {
    private let folder: Descriptor

    fileprivate init(_ folder: consuming Descriptor) { self.folder = folder }

    /// Opens a snapshot for reading. Blocks.
    /// - Throws: `.localIO` if there is no such snapshot, or it cannot be read.
    public func snapshot(_ name: String) throws(Failure) -> Snapshot {
        let file = Descriptor(
            Tree.isSnapshotName(name) ? openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1)
        guard let info = file.status(), info.isRegular else {
            throw .system("opening the snapshot outgoing/\(name)", errno)
        }
        return Snapshot(file, size: Int64(info.st_size))
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
