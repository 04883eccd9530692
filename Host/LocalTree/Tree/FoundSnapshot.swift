import CLinux
import Glibc
public import Model

extension FoundSnapshot {
    fileprivate init?(_ name: String, in folder: Int32) {
        let file = Descriptor(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK))
        guard let info = file.status(), info.isRegular else { return nil }
        self.init(
            name: name, path: file.target, size: Int64(info.st_size),
            taken: Timestamp(seconds: Int64(info.st_ctim.tv_sec)))
    }

    /// Returns the snapshots in a folder, whether or not uploads need them. Blocks.
    /// - Parameter folder: The absolute path of `outgoing/`.
    /// - Throws: `.localIO` if the folder cannot be read.
    public static func all(in folder: String) throws(Failure) -> [FoundSnapshot] {
        let descriptor = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard descriptor.number >= 0 else {
            if errno == ENOENT { return [] }
            throw .system("opening \(folder)", errno)
        }
        return try names(in: descriptor.number).filter(Tree.isSnapshotName).sorted().compactMap {
            FoundSnapshot($0, in: descriptor.number)
        }
    }
}

extension Tree {
    /// Returns the snapshots that no upload needs, and that belong to no command which is about to request one. Blocks.
    /// - Parameters:
    ///   - age: The age from which on a snapshot belongs to no command, where the file system has no locks.
    ///   - needed: Returns the names of the snapshots that uploads need, as of ``sweepOutgoing(olderThan:keeping:)``.
    /// - Throws: What `needed` throws; `.localIO` if `outgoing/` cannot be read.
    public func foundSnapshots(
        olderThan age: Duration, besides needed: () throws -> Set<String>
    ) throws -> [FoundSnapshot] {
        let abandoned = try abandonedSnapshots(olderThan: age).filter(Self.isSnapshotName)
        guard !abandoned.isEmpty else { return [] }
        let needed = try needed()
        let outgoing = staging.outgoing()
        return abandoned.filter { !needed.contains($0) }.compactMap { FoundSnapshot($0, in: outgoing.number) }
    }

    /// Returns the path to which a snapshot was to be uploaded; nil if it is not known.
    public func target(ofSnapshot name: String) -> ItemPath? {
        let outgoing = staging.outgoing()
        return Self.isSnapshotName(name) ? FoundSnapshot(name, in: outgoing.number)?.path : nil
    }

    /// Reads a snapshot that was found, and returns its facts as if it were taken now. Blocks.
    /// - Throws: `.localIO` if the snapshot is missing or cannot be read.
    public func describe(snapshot name: String) throws(Failure) -> TakenSnapshot {
        let outgoing = staging.outgoing()
        let file = Descriptor(
            Self.isSnapshotName(name) ? openat(outgoing.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1)
        guard let info = file.status(), info.isRegular else {
            throw .system("opening the snapshot outgoing/\(name)", errno)
        }
        var hash = ContentHash(also: [.sha1])
        var size: Int64 = 0
        let read = readAll(file.number) { piece in
            hash.update(piece)
            size += Int64(piece.count)
            return true
        }
        guard read == true else { throw .system("reading the snapshot outgoing/\(name)", errno) }
        let mark = FileMark(info, now: clock())
        return TakenSnapshot(
            name: name, size: size, digest: hash.digest, sha1: hash.others[.sha1] ?? [], modified: mark.modified,
            mark: mark)
    }
}

/// The attribute of a snapshot that names the path to which it is to be uploaded.
extension Descriptor {
    private static let attribute = "user.larder.path"

    /// The longest path of an attribute, as the kernel limits all of them together.
    private static let longest = 65_536

    /// Names the path. Without extended attributes, nothing is named.
    func setTarget(_ path: ItemPath) {
        let bytes = Array(path.text.utf8)
        _ = linux_set_attribute(number, Self.attribute, bytes, bytes.count)
    }

    /// Removes the name of the path: the file is a person's from now on.
    func removeTarget() { _ = linux_remove_attribute(number, Self.attribute) }

    /// The path that the attribute names.
    fileprivate var target: ItemPath? {
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = linux_get_attribute(number, Self.attribute, &bytes, bytes.count)
        guard count > 0, let text = String(validating: bytes[..<count], as: UTF8.self) else { return nil }
        do { return try ItemPath(text) } catch { return nil }
    }
}
