import CLinux
package import Glibc
public import Model
import Synchronization

/// The folder of local copies: each lies at the path that its item has on the server.
///
/// Every path is resolved by the kernel beneath the root, without following a symbolic link or leaving the file system. What
/// is here may be called from any thread that may block.
public final class Tree: Sendable {
    /// Absolute.
    public let root: String
    /// Whether `/.larder` is the tree's own, so that an item of that name cannot be kept here.
    public let reservesDotLarder: Bool
    /// The name of the folder with the tree's mark, in its root.
    public static let dotLarder = ".larder"

    let folder: Descriptor
    let incoming: Descriptor
    let clock: @Sendable () -> Timestamp
    /// What a file's looks prove here.
    package let proof: MarkProof
    let hooks: TreeHooks
    /// What of the tree Larder itself has open.
    let ownOpens = OwnOpens()
    /// How often writing to the disk has failed: what was written before is not believed.
    let failures = Atomic<Int>(0)
    /// Whether a copy was removed, and the disk may not know it yet.
    let hasUnsyncedRemovals = Atomic<Bool>(false)

    package init(
        root: String, folder: consuming Descriptor, incoming: consuming Descriptor, reservesDotLarder: Bool,
        clock: @escaping @Sendable () -> Timestamp, proof: MarkProof = MarkProof(), hooks: TreeHooks = TreeHooks()
    ) {
        self.root = root
        self.folder = folder
        self.incoming = incoming
        self.reservesDotLarder = reservesDotLarder
        self.clock = clock
        self.proof = proof
        self.hooks = hooks
    }

    /// Where an item's copy lies, whether or not it is there, for programs that open it.
    public func localPath(of path: ItemPath) -> String { path.isRoot ? root : root + path.text }

    /// Whether the folder is still the one that ``root`` leads to. One that was moved, removed, unmounted or mounted over is not: what
    /// is missing then was not removed by anybody.
    public var isInPlace: Bool {
        var there = stat()
        guard stat(root, &there) == 0, let own = folder.status() else { return false }
        return there.st_ino == own.st_ino && there.st_dev == own.st_dev
    }

    /// The looks of the file at a path; nil if there is no regular file.
    public func mark(at path: ItemPath) -> FileMark? {
        guard case .success(let location) = locate(path),
            let info = status(of: location.name, in: location.folder.number),
            info.isRegular
        else { return nil }
        return FileMark(info, now: clock())
    }

    /// A mark that is proof from now on: renews one that was taken right after the file was put in place.
    ///
    /// Called at least ``FileMark/clockStep`` after that, such as when the next batch is complete. The copy's modification
    /// time was set by us, to another time than now: had anybody written the file meanwhile, its looks would be others. Where times
    /// are kept too coarsely to tell that, the file is read once, by the next comparison.
    /// - Returns: the mark as it was if the file looks differently now or its looks tell nothing yet, so that it is read before
    ///   anything is done to it.
    public func renewed(_ mark: FileMark, at path: ItemPath) -> FileMark {
        guard !proof.isCoarse, let now = self.mark(at: path), now.matches(mark), now.recorded >= mark.recorded else {
            return mark
        }
        return now
    }

    /// Makes everything durable that was written to the tree and `incoming/`, and every rename, on the whole file system.
    ///
    /// One `syncfs` for a batch rather than `fdatasync` for each file: for 200 files of 4 KiB on ext4 (virtual disk, two
    /// processors, busy) it took 8–21 ms, `fdatasync` one after the other 1.0–1.4 s, on eight threads 63–76 ms; each of those
    /// commits the file system's journal, which `syncfs` does once, with the renames in it. Its price is that it also writes what
    /// other programs have not written yet.
    ///
    /// After an error the kernel may have dropped what it could not write, and says nothing of it the next time: everything in
    /// `incoming/` goes, also what is being written now (``isBelieved(_:)``).
    /// - Throws: `.localIO` if the system could not write all of it.
    public func syncData() throws(Failure) {
        let code = hooks.sync.map { $0() } ?? (linux_syncfs(folder.number) == 0 ? 0 : errno)
        guard code == 0 else {
            abandonAllIncoming()
            failures.add(1, ordering: .sequentiallyConsistent)
            throw .system("writing \(root) to the disk", code)
        }
    }

    /// Makes removals durable, if there were any: called before the rows say so, since after a power cut the file may be back, and
    /// only the row knows its content.
    /// - Throws: As ``syncData()``; the next call tries again.
    public func syncRemovals() throws(Failure) {
        guard hasUnsyncedRemovals.exchange(false, ordering: .sequentiallyConsistent) else { return }
        do { try syncData() } catch {
            hasUnsyncedRemovals.store(true, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    /// Whether a program other than this one has the file at a path open.
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

/// Who has a file open.
public enum FileUse: Hashable, Sendable {
    case none
    /// For reading alone.
    case read
    /// For writing, or it cannot be told.
    case written
}

/// Where tests step in between looking and acting.
package struct TreeHooks: Sendable {
    package enum Point: Hashable, Sendable, CaseIterable { case opened, judged, prepared, acted, puttingBack }
    package var reached: @Sendable (Point) -> Void = { _ in }
    /// Set: there are no leases, and this is what `/proc` answers.
    package var openFiles: (@Sendable (stat) -> OpenFiles.Answer)?
    /// Set: nothing is synced, and this is what the kernel answers: 0 or an `errno`.
    package var sync: (@Sendable () -> Int32)?

    package init(
        reached: @escaping @Sendable (Point) -> Void = { _ in },
        openFiles: (@Sendable (stat) -> OpenFiles.Answer)? = nil, sync: (@Sendable () -> Int32)? = nil
    ) {
        (self.reached, self.openFiles, self.sync) = (reached, openFiles, sync)
    }
}
