import CLinux
import Glibc
public import Model

/// The work in a tree for a batch of files that lie in few folders. The folder of one file stays open for the next one.
/// The object belongs to one thread, and is dropped with the batch.
///
///     let batch = TreeBatch(tree)
///     for file in files { marks.append(batch.place(file.name, at: file.path, mark: file.mark)) }
public final class TreeBatch {
    private let tree: Tree
    private var incoming: Descriptor?
    private var outgoing: Descriptor?
    private var path: ItemPath?
    private var folder: Descriptor?

    /// Begins a batch.
    public init(_ tree: Tree) { self.tree = tree }

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
        guard Tree.isSnapshotName(name), Tree.isIncomingName(download) else {
            throw Failure(.internal, "outgoing/\(name) is not the name of a snapshot")
        }
        if self.outgoing == nil { self.outgoing = tree.staging.outgoing() }
        if self.incoming == nil { self.incoming = tree.staging.incoming() }
        let (outgoing, incoming) = (self.outgoing?.number ?? -1, self.incoming?.number ?? -1)
        let file = Descriptor(openat(outgoing, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
        let found = file.status().map { FileMark($0, now: tree.clock()) }
        guard renameat(outgoing, name, incoming, download) == 0 else {
            throw .system("moving the snapshot outgoing/\(name)", errno)
        }
        file.removeTarget()
        guard let mark, found?.matches(mark) == true else {
            return try tree.incomingFile(download).finish(modified: modified)
        }
        guard setTime(modified ?? tree.clock(), of: file.number), let info = file.status() else {
            throw .system("setting the time of incoming/\(download)", errno)
        }
        return tree.completed(download, digest: digest, FileMark(info, now: tree.clock()))
    }

    /// Puts a complete download in place where nothing is. Missing folders above the path are created.
    /// - Parameters:
    ///   - name: The file's name in `incoming/`.
    ///   - mark: The file's mark in `incoming/`.
    /// - Returns: The file's mark, as ``Tree/place(_:at:replacing:)`` returns it; nil if something is in the way or
    ///   fails. The file is in `incoming/` then, and `place` says what is the matter.
    public func place(_ name: String, at path: ItemPath, mark: FileMark) -> FileMark? {
        guard open(path, making: true), let number = folder?.number else { return nil }
        if incoming == nil { incoming = tree.staging.incoming() }
        guard let source = incoming?.number, source >= 0,
            linux_rename_noreplace(source, name, number, path.name) == 0
        else { return nil }
        // As for any other file: if its mark differs, somebody has already written it.
        guard let info = status(of: path.name, in: number) else { return mark }
        let placed = FileMark(info, now: tree.clock())
        return placed.hasContent(like: mark) ? placed : mark
    }

    /// Renews a mark as ``Tree/renewed(_:at:)`` does.
    public func renewed(_ mark: FileMark, at path: ItemPath) -> FileMark {
        guard !tree.proof.isCoarse, open(path, making: false), let number = folder?.number,
            let info = status(of: path.name, in: number), info.isRegular
        else { return mark }
        let now = FileMark(info, now: tree.clock())
        return now.matches(mark) && now.recorded >= mark.recorded ? now : mark
    }

    private func open(_ path: ItemPath, making: Bool) -> Bool {
        guard !path.isRoot, !tree.isReserved(path) else { return false }
        let parent = path.parent
        if self.path == parent, folder != nil { return true }
        folder = nil
        guard case .success(let number) = tree.openFolder(parent, making: making) else { return false }
        self.path = parent
        folder = Descriptor(number)
        return true
    }
}
