import Glibc
import TestSupport
import Testing

@testable import Warehouse

/// The file systems that a storage is tried on besides that of the temporary files.
enum FileSystem: String, CaseIterable {
    case tmpfs, xfs, btrfs

    /// What makes one in a file; nil: none is made.
    var maker: String? { self == .tmpfs ? nil : "/sbin/mkfs.\(rawValue)" }

    /// Why it cannot be tried here; nil if it can.
    var obstacle: String? {
        guard let maker else { return access("/dev/shm", W_OK) == 0 ? nil : "/dev/shm cannot be written" }
        if !Build.isRoot { return "mounting needs root" }
        if access(maker, X_OK) != 0 { return "there is no \(maker)" }
        let known = (try? Files.text("/proc/filesystems")) ?? ""
        return known.split(separator: "\n").contains { $0.hasSuffix("\t\(rawValue)") }
            ? nil : "the kernel has no \(rawValue)"
    }
}

/// Mounts the file systems for a suite.
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

/// Runs each test once where temporary files lie, and once on each mounted file system.
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

/// What the original's tests show, one test each, on every file system that can be had.
@Suite(MountedFileSystems(), OnEachFileSystem()) struct OriginalBehaviours {}
