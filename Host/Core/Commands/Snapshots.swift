import LocalTree
public import Model
import Vault

/// Snapshots of files to upload.
public enum Snapshots {
    /// Takes a snapshot of a file for an account's uploads, with the rights of this process. It is on the disk when the
    /// function returns. Blocks.
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - path: The path to which it is to be uploaded.
    ///   - bookmark: The account.
    ///   - withSHA1: Whether the account's server may be of the ownCloud family, which compares SHA-1 digests.
    /// - Returns: The facts about the snapshot, and its lock, which is kept until the upload was requested.
    /// - Throws: As ``SnapshotBatch/take(_:for:followsLink:)``; `.failed` if the account was never run.
    public static func take(
        of file: String, to path: ItemPath, for bookmark: Bookmark, withSHA1: Bool
    ) throws(Failure) -> (snapshot: TakenSnapshot, lock: any Sendable) {
        let (snapshot, lock) = try TakenSnapshot.take(
            of: file, into: try folder(of: bookmark), for: path, withSHA1: withSHA1)
        return (snapshot, lock)
    }

    /// Snapshots of several files, whose uploads are requested together. All functions block. The value belongs to one
    /// thread.
    public struct Batch {
        private let batch: SnapshotBatch

        /// Begins a batch without snapshots.
        /// - Parameters:
        ///   - bookmark: The account.
        ///   - withSHA1: Whether the account's server may be of the ownCloud family, which compares SHA-1 digests.
        /// - Throws: `.failed` if the account was never run; `.localIO` if its folder cannot be opened.
        public init(for bookmark: Bookmark, withSHA1: Bool) throws(Failure) {
            batch = try SnapshotBatch(in: try Snapshots.folder(of: bookmark), withSHA1: withSHA1)
        }

        /// Takes a snapshot of a file, with the rights of this process.
        /// - Parameters:
        ///   - file: The path of the file.
        ///   - path: The path to which it is to be uploaded.
        ///   - followsLink: Whether a symbolic link stands for the file that it leads to.
        /// - Throws: As ``SnapshotBatch/take(_:for:followsLink:)``.
        public func take(_ file: String, to path: ItemPath, followsLink: Bool) throws(Failure) -> TakenSnapshot {
            try batch.take(file, for: path, followsLink: followsLink)
        }

        /// Writes the snapshots to the disk. Their uploads are requested afterwards.
        /// - Throws: `.localIO`. None of the snapshots may be used then.
        public func sync() throws(Failure) { try batch.sync() }

        /// The snapshots' lock, which is kept until the uploads were requested; nil if there is none.
        public var lock: (any Sendable)? { batch.lock }
    }

    private static func folder(of bookmark: Bookmark) throws(Failure) -> String {
        guard let folder = Vault.outgoingFolder(at: bookmark.vault, files: bookmark.files) else {
            throw Failure(.failed, "Nothing is known of \(bookmark.name) yet", hint: .runFirst)
        }
        return folder
    }

    /// Returns a file's absolute path without symbolic links, as ``TakenSnapshot/source`` has it. Blocks.
    public static func source(_ file: String) -> String? { TakenSnapshot.resolvedPath(file) }

    /// Returns the snapshots that an account's vault holds, and their folder. Blocks.
    /// - Throws: `.localIO` if the folder cannot be read.
    public static func found(
        of bookmark: Bookmark
    ) throws(Failure) -> (folder: String, snapshots: [FoundSnapshot]) {
        guard let folder = Vault.outgoingFolder(at: bookmark.vault, files: bookmark.files) else { return ("", []) }
        return (folder, try FoundSnapshot.all(in: folder))
    }

    /// Removes a snapshot that no upload was requested for. Blocks.
    public static func discard(_ snapshot: TakenSnapshot, of bookmark: Bookmark) {
        guard let folder = Vault.outgoingFolder(at: bookmark.vault, files: bookmark.files) else { return }
        snapshot.discard(from: folder)
    }
}
