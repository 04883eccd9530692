import CLinux
package import Glibc
public import Model
import Synchronization

/// The folder of local copies. Each copy lies at the path that its item has on the server.
///
/// The kernel resolves every path beneath the root, without following a symbolic link or leaving the file system. The
/// functions may be called from any thread that may block.
public final class Tree: Sendable {
    /// The absolute path of the root.
    public let root: String
    /// Whether `/.larder` belongs to the tree itself, so that an item of that name cannot be kept here.
    public let reservesDotLarder: Bool
    /// The name of the folder in the root that holds the tree's mark.
    public static let dotLarder = ".larder"

    let folder: OpenFolder
    let staging: StagingFolders
    let clock: @Sendable () -> Timestamp
    /// The conditions under which a file's mark proves its content here.
    package let proof: MarkProof
    let hooks: TreeHooks
    /// The user as whom the process works.
    let ownUser = geteuid()
    /// The files of the tree that Larder itself has open.
    let ownOpens = OwnOpens()
    /// The number of failed writes to the disk. Downloads that were opened before a failure are not believed.
    let failures = Atomic<Int>(0)
    /// Whether a copy was removed and the removal may not be on the disk yet.
    let hasUnsyncedRemovals = Atomic<Bool>(false)

    package init(
        root: String, folder: OpenFolder, staging: StagingFolders, reservesDotLarder: Bool,
        clock: @escaping @Sendable () -> Timestamp, proof: MarkProof = MarkProof(), hooks: TreeHooks = TreeHooks()
    ) {
        self.root = root
        self.folder = folder
        self.staging = staging
        // Commands put files into it. A failure shows when the folder is used.
        _ = staging.outgoing()
        self.reservesDotLarder = reservesDotLarder
        self.clock = clock
        self.proof = proof
        self.hooks = hooks
    }

    /// Returns the local path of an item's copy, for programs that open it, whether or not the copy exists.
    public func localPath(of path: ItemPath) -> String { path.isRoot ? root : root + path.text }

    /// Whether the open folder is still the folder at ``root``. The folder is not if it was moved, removed, unmounted
    /// or mounted over. Missing entries were then not removed by anybody.
    public var isInPlace: Bool {
        var there = stat()
        guard stat(root, &there) == 0, let own = folder.status() else { return false }
        return there.st_ino == own.st_ino && there.st_dev == own.st_dev
    }

    /// Returns the mark of the file at a path; nil if there is no regular file.
    public func mark(at path: ItemPath) -> FileMark? {
        guard case .success(let location) = locate(path),
            let info = status(of: location.name, in: location.folder.number),
            info.isRegular
        else { return nil }
        return FileMark(info, now: clock())
    }

    /// Renews a mark that was recorded right after its file was put in place, so that the mark becomes proof.
    ///
    /// The function is called at least ``FileMark/clockStep`` after that, such as when the next batch is complete.
    /// Larder had set the copy's modification time to another time than the present. If anybody had written the file
    /// meanwhile, its mark would therefore differ. Where times are kept too coarsely to show this, the next comparison
    /// reads the file once.
    /// - Returns: The new mark, or the old one if the file's mark differs now or times are too coarse. With an old
    ///   mark, the file is read before anything is done to it.
    public func renewed(_ mark: FileMark, at path: ItemPath) -> FileMark {
        guard !proof.isCoarse, let now = self.mark(at: path), now.matches(mark), now.recorded >= mark.recorded else {
            return mark
        }
        return now
    }

    /// Makes everything durable that was written to the tree and `incoming/`, and every rename, on the whole file
    /// system.
    ///
    /// One `syncfs` for a batch replaces an `fdatasync` for each file. For 200 files of 4 KiB on ext4 (virtual disk,
    /// two processors, busy), `syncfs` took 8–21 ms, `fdatasync` for one file after the other 1.0–1.4 s, and
    /// `fdatasync` on eight threads 63–76 ms. Each `fdatasync` commits the file system's journal. `syncfs` commits the
    /// journal once, with the renames in it. Its price is that it also writes what other programs have not written yet.
    ///
    /// After an error, the kernel may have dropped what it could not write, and it does not report the loss again. The
    /// function therefore removes all downloads in `incoming/`, including those that are being written now
    /// (``isBelieved(_:)``).
    /// - Throws: `.localIO` if the system could not write all of the data.
    public func syncData() throws(Failure) {
        let code = hooks.sync.map { $0() } ?? (linux_syncfs(folder.number) == 0 ? 0 : errno)
        guard code == 0 else {
            abandonAllIncoming()
            failures.add(1, ordering: .sequentiallyConsistent)
            throw .system("writing \(root) to the disk", code)
        }
    }

    /// Makes removals durable, if there were any. The function is called before the rows record the removals: after a
    /// power failure the file may be back, and only the row knows its content.
    /// - Throws: The errors of ``syncData()``. The next call tries again.
    public func syncRemovals() throws(Failure) {
        guard hasUnsyncedRemovals.exchange(false, ordering: .sequentiallyConsistent) else { return }
        do { try syncData() } catch {
            hasUnsyncedRemovals.store(true, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    /// Tells whether a program other than this one has the file at a path open.
    public func use(at path: ItemPath) -> FileUse {
        guard case .success(let location) = locate(path) else { return .none }
        let file = OwnFile(location, ownOpens)
        guard file.number >= 0, let info = file.status(), info.isRegular else { return .none }
        if let answer = leaseAnswer(file.number) { return answer }
        return switch OpenFiles.use(of: info, except: file.number) {
        case .unused: .none
        case .read: .read
        case .written, .unknown: .written
        }
    }

    private func leaseAnswer(_ file: Int32) -> FileUse? {
        do {
            _ = try Lease(file, .unused)
            return FileUse.none
        } catch {
            guard error == .inUse else { return nil }
        }
        do {
            _ = try Lease(file, .unwritten)
            return .read
        } catch {
            return error == .inUse ? .written : nil
        }
    }
}

/// The use of a file by other programs.
public enum FileUse: Hashable, Sendable {
    case none
    /// The file is open for reading only.
    case read
    /// The file is open for writing, or the system does not tell.
    case written
}

/// The points at which tests intervene between checking and acting.
package struct TreeHooks: Sendable {
    package enum Point: Hashable, Sendable, CaseIterable { case opened, judged, prepared, acted, puttingBack }
    package var reached: @Sendable (Point) -> Void = { _ in }
    /// A replacement for the answer of `/proc`. If it is set, no leases are taken.
    package var openFiles: (@Sendable (stat) -> OpenFiles.Answer)?
    /// A replacement for the kernel's sync, which returns 0 or an `errno`. If it is set, nothing is synced.
    package var sync: (@Sendable () -> Int32)?
    /// A replacement for what the system tells of the file system.
    package var space: (@Sendable () -> FileSystemSpace?)?

    package init(
        reached: @escaping @Sendable (Point) -> Void = { _ in },
        openFiles: (@Sendable (stat) -> OpenFiles.Answer)? = nil, sync: (@Sendable () -> Int32)? = nil,
        space: (@Sendable () -> FileSystemSpace?)? = nil
    ) {
        (self.reached, self.openFiles, self.sync, self.space) = (reached, openFiles, sync, space)
    }
}
