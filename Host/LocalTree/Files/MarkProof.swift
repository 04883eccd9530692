import CLinux
import Glibc
package import Model

/// What a file's looks prove where a tree lies.
///
/// A comparison leaves alone what looks as it was recorded. Before a copy is removed, replaced or handed out, its looks must prove
/// its content, or it is read.
package struct MarkProof: Hashable, Sendable {
    /// A file that changes again within this may keep its times.
    package var step = FileMark.clockStep
    /// Whether each change shows in a change time that no program can set, by this system's clock. Where it does not (vfat, network
    /// file systems), looks are never proof.
    package var showsChanges: Bool
    /// Looks that were recorded before are no proof. What a person changed just before the power failed may be on the disk under the
    /// times that the file had before, whether or not a host was at work then.
    package var since: Timestamp?

    package init(step: Duration = FileMark.clockStep, showsChanges: Bool = true, since: Timestamp? = nil) {
        (self.step, self.showsChanges, self.since) = (step, showsChanges, since)
    }

    /// Whether a file that looks so still may be left as it is.
    package func suffices(_ mark: FileMark) -> Bool { mark.isConclusive(step: step) }

    /// Whether the content of a file that looks so still is certainly the same.
    func isProof(_ mark: FileMark) -> Bool {
        showsChanges && suffices(mark) && since.map { $0 < mark.recorded } ?? true
    }

    /// Whether times are kept more coarsely than anybody waits after putting a file in place.
    var isCoarse: Bool { step > FileMark.clockStep * 2 }
}

extension MarkProof {
    /// Finds out by a file that is made and removed in a folder.
    /// - Returns: nil with `errno` if that fails.
    package static func measure(in folder: Int32) -> MarkProof? {
        let name = "probe"
        let file = Descriptor(openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard file.number >= 0 else { return nil }
        defer { unlinkat(folder, name, 0) }
        // An odd second, since vfat keeps the even ones.
        let set = timespec(tv_sec: 1_600_000_001, tv_nsec: 999_999_999)
        var times = [set, set]
        let type = linux_file_system_type(file.number)
        guard type != -1, futimens(file.number, &times) == 0, let info = file.status() else { return nil }
        let lost = (Timestamp(set) - Timestamp(info.st_mtim)).nanoseconds.magnitude
        let grain = max(lost == 0 ? 0 : Int64(clamping: lost) + 1, coarseness(of: Timestamp(info.st_ctim)))
        return MarkProof(
            step: FileMark.clockStep + .nanoseconds(grain), showsChanges: keepsOwnTimes(type))
    }

    /// How coarsely a time was kept that happens to be one with so many zeros, in nanoseconds.
    private static func coarseness(of time: Timestamp) -> Int64 {
        [1_000_000_000, 100_000_000, 10_000_000, 1_000_000].first { time.nanoseconds % $0 == 0 } ?? 0
    }

    /// Whether a file system's change times are this kernel's, and nobody can set them (`statfs(2)`). Of one that is not known it is
    /// not to be expected.
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
