import Glibc
import TestSupport
import Testing

@testable import Warehouse

/// A file system on which the storage is tested in addition to the one that holds the temporary files.
enum FileSystem: String, CaseIterable {
    case tmpfs, xfs, btrfs

    /// The path of the program that makes such a file system in a file; nil if no file system is made.
    var maker: String? { self == .tmpfs ? nil : "/sbin/mkfs.\(rawValue)" }

    /// The reason why the file system cannot be tested on this machine; nil if it can.
    var obstacle: String? {
        guard let maker else { return access("/dev/shm", W_OK) == 0 ? nil : "/dev/shm cannot be written" }
        if !Build.isRoot { return "mounting needs root" }
        if access(maker, X_OK) != 0 { return "there is no \(maker)" }
        let known = (try? Files.text("/proc/filesystems")) ?? ""
        return known.split(separator: "\n").contains { $0.hasSuffix("\t\(rawValue)") }
            ? nil : "the kernel has no \(rawValue)"
    }
}

/// A trait that mounts the file systems for a suite.
struct MountedFileSystems: SuiteTrait, TestScoping {
    @TaskLocal static var roots: [String] = []

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var roots: [String] = []
            for system in FileSystem.allCases {
                if let obstacle = system.obstacle {
                    print("not on \(system): \(obstacle)")
                } else if let maker = system.maker {
                    let (image, mount) = ("\(folder)/\(system).image", "\(folder)/\(system)")
                    try Files.makeFolder(mount)
                    try await mustRun("truncate", ["-s", "400M", image])
                    try await mustRun(maker, ["-q", image])
                    try await mustRun("mount", ["-o", "loop", image, mount])
                    roots.append(mount)
                } else {
                    roots.append("/dev/shm")
                }
            }
            do {
                try await Self.$roots.withValue(roots) { try await function() }
            } catch {
                try await unmount(roots)
                throw error
            }
            try await unmount(roots)
        }
    }

    private func unmount(_ roots: [String]) async throws {
        for root in roots where root != "/dev/shm" { try await mustRun("umount", [root]) }
    }
}

/// A trait that runs each test once in the folder for temporary files and once on each mounted file system.
struct OnEachFileSystem: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        for root in MountedFileSystems.roots { try await StorageFixture.$root.withValue(root) { try await function() } }
    }
}

/// The behaviours that the original's tests show, one test each, on every available file system.
@Suite(MountedFileSystems(), OnEachFileSystem()) struct OriginalBehaviours {}
