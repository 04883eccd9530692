import CLinux
import Glibc
package import Model

/// The conditions under which a file's mark proves its content in a tree.
///
/// A comparison does not read a file whose mark is as recorded. Before a copy is removed, replaced or handed out, its
/// mark must prove its content. Otherwise the file is read.
package struct MarkProof: Hashable, Sendable {
    /// The time within which a file that changes again may keep its times.
    package var step = FileMark.clockStep
    /// Whether each change shows in a change time of this system's clock that no program can set. Where this is not so
    /// (vfat, network file systems), a mark is never proof.
    package var showsChanges: Bool
    /// The time before which recorded marks are no proof. A change just before a power failure may be on the disk with
    /// the times that the file had before, whether or not a host was running then.
    package var since: Timestamp?

    package init(step: Duration = FileMark.clockStep, showsChanges: Bool = true, since: Timestamp? = nil) {
        (self.step, self.showsChanges, self.since) = (step, showsChanges, since)
    }

    /// Tells whether a file that still has this mark may be left as it is.
    package func suffices(_ mark: FileMark) -> Bool { mark.isConclusive(step: step) }

    /// Tells whether a file that still has this mark certainly has the same content.
    func isProof(_ mark: FileMark) -> Bool {
        showsChanges && suffices(mark) && since.map { $0 < mark.recorded } ?? true
    }

    /// Whether the file system's times are coarser than the delay after putting a file in place.
    var isCoarse: Bool { step > FileMark.clockStep * 2 }
}

extension MarkProof {
    /// Measures a file system with a file that is created and removed in a folder.
    /// - Returns: Nil with `errno` if the measurement fails.
    package static func measure(in folder: Int32) -> MarkProof? {
        let name = "probe"
        let file = Descriptor(openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard file.number >= 0 else { return nil }
        defer { unlinkat(folder, name, 0) }
        // The second is odd, since vfat keeps even seconds only.
        let set = timespec(tv_sec: 1_600_000_001, tv_nsec: 999_999_999)
        var times = [set, set]
        let type = linux_file_system_type(file.number)
        guard type != -1, futimens(file.number, &times) == 0, let info = file.status() else { return nil }
        let lost = (Timestamp(set) - Timestamp(info.st_mtim)).nanoseconds.magnitude
        let grain = max(lost == 0 ? 0 : Int64(clamping: lost) + 1, coarseness(of: Timestamp(info.st_ctim)))
        return MarkProof(
            step: FileMark.clockStep + .nanoseconds(grain), showsChanges: keepsOwnTimes(type))
    }

    /// Returns the possible step of a time, in nanoseconds, by its trailing zeros. A time may have the zeros by chance.
    private static func coarseness(of time: Timestamp) -> Int64 {
        [1_000_000_000, 100_000_000, 10_000_000, 1_000_000].first { time.nanoseconds % $0 == 0 } ?? 0
    }

    /// Tells whether a file system's change times are those of this kernel and cannot be set by programs (`statfs(2)`).
    /// An unknown file system is assumed not to have such times.
    static func keepsOwnTimes(_ type: Int64) -> Bool {
        let known: Set<Int64> = [
            0xef53,  // ext2, ext3, ext4
            0x5846_5342,  // XFS
            0x9123_683e,  // Btrfs
            0x0102_1994,  // tmpfs
            0xf2f5_2010,  // F2FS
            0x2fc1_2fc1,  // ZFS
            0xca45_1a4e,  // bcachefs
            0x794c_7630,  // overlayfs
            0x3153_464a,  // JFS
        ]
        return known.contains(type)
    }
}
