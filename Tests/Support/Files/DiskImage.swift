import Glibc

/// A file system in a file, with properties that the file system under the tests lacks. Mounting the image needs root.
public struct DiskImage: Sendable {
    /// A kind of file system: its name, its size and the program that makes it.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        public let name: String
        let size: String
        let program: String
        let options: [String]

        public init(_ name: String, size: String, program: String, _ options: String...) {
            (self.name, self.size, self.program, self.options) = (name, size, program, options)
        }

        public var description: String { name }

        /// An ext4 that keeps times in whole seconds.
        public static let ext4WithSmallInodes = Kind("ext4", size: "64M", program: "mkfs.ext4", "-q", "-I", "128")
        /// A file system that keeps times in steps of two seconds, and no change time.
        public static let vfat = Kind("vfat", size: "64M", program: "mkfs.vfat")
        /// An ext4 with the defaults of `mkfs.ext4`.
        public static let ext4 = Kind("ext4", size: "64M", program: "mkfs.ext4", "-q")
        /// An ext4 that loses the data it cannot write, and goes on.
        public static let ext4WithoutJournal = Kind(
            "ext4", size: "64M", program: "mkfs.ext4", "-q", "-O", "^has_journal")
        public static let btrfs = Kind("btrfs", size: "256M", program: "mkfs.btrfs", "-q")
        public static let xfs = Kind("xfs", size: "320M", program: "mkfs.xfs", "-q")

        /// Whether this system can make and mount a file system of this kind.
        public var isAvailable: Bool {
            guard ["/sbin", "/usr/sbin"].contains(where: { Files.exists("\($0)/\(program)") }) else { return false }
            var system = utsname()
            guard uname(&system) == 0 else { return false }
            let release = withUnsafeBytes(of: &system.release) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let known = (try? Files.text("/proc/filesystems"))?.contains("\t\(name)\n") ?? false
            return known || Files.exists("/lib/modules/\(release)/kernel/fs/\(name == "vfat" ? "fat" : name)")
        }
    }

    /// The path of the image file.
    public let path: String

    /// Takes an existing image file.
    public init(at path: String) { self.path = path }

    /// Makes an image file with an empty file system.
    public static func make(_ kind: Kind, at path: String) async throws -> DiskImage {
        try await mustRun("truncate", ["-s", kind.size, path])
        try await mustRun(kind.program, kind.options + [path])
        return DiskImage(at: path)
    }

    /// Mounts the image while `body` runs.
    public func mounted<Result>(
        at folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try Files.makeFolder(folder)
        try await mustRun("mount", ["-o", "loop", path, folder])
        do {
            let result = try await body()
            // A task may release its files a moment after it has ended.
            var isGone = false
            try await until {
                isGone = try await run("umount", [folder]).exitCode == 0
                return isGone
            }
            guard isGone else { throw SetupError("\(folder) stays in use") }
            return result
        } catch {
            try await mustRun("umount", ["--lazy", folder])
            throw error
        }
    }

    /// Copies the state that a power cut at this moment would leave: the image file's content, without the data that
    /// the kernel has not written yet.
    /// The image is copied twice, until both copies are equal, so that the copy shows a single moment.
    public func afterPowerCut(copiedTo copy: String) async throws -> DiskImage {
        let again = copy + ".again"
        for _ in 0..<50 {
            try await mustRun("cp", ["--sparse=always", path, copy])
            try await mustRun("cp", ["--sparse=always", path, again])
            if try await run("cmp", ["-s", copy, again]).exitCode == 0 {
                Files.remove(again)
                return DiskImage(at: copy)
            }
        }
        throw SetupError("the image \(path) is never still")
    }
}
