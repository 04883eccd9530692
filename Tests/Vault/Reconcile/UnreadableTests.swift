import Glibc
import Model
import TestSupport
import Testing
import TreeFixture

@testable import Database
@testable import LocalTree
@testable import Vault

/// Tests that the reconciler concludes nothing about the contents of a folder that cannot be read.
@Suite struct UnreadableTests {
    private struct Fixture {
        let tree: TreeFixture
        let database: Database
        var sub: String { tree.root + "/top/sub" }

        func reconcile(_ scopes: String...) throws -> Reconciliation {
            let reconciler = Reconciler(database: database, tree: tree.tree)
            return try reconciler.run(at: scopes.map { ItemPath(unchecked: $0) }) ?? Reconciliation()
        }

        func statuses() throws -> [String: CloudStatus] {
            var found: [String: CloudStatus] = [:]
            try database.readBlocking { reads in
                try reads.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                    found[item.path.text] = item.cloudStatus
                    return true
                }
            }
            return found
        }
    }

    /// Calls `body` with a pinned folder that holds a copy, a changed copy, and files that exist only locally, two
    /// levels deep.
    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let tree = try TreeFixture.make(in: folder)
            let fixture = Fixture(tree: tree, database: try Database.open(path: folder + "/larder.db"))
            for path in ["/top/sub/copy", "/top/sub/deep/copy", "/top/sub/changed", "/top/near"] {
                let copy = try tree.place("content", at: path)
                try fixture.database.writeBlocking { tx in
                    var item = fileItem(path)
                    item.fileID = FileID(path)
                    item.cloudStatus = .localCopy
                    item.copy = tree.settled(copy)
                    try tx.items.insert(item)
                }
            }
            try Files.write("changed", to: tree.root + "/top/sub/changed")
            try Files.write("mine", to: tree.root + "/top/sub/own/mine")
            try fixture.database.writeBlocking { tx in
                for path in ["/top/sub"] {
                    var folder = folderItem(path)
                    folder.fileID = FileID(path)
                    folder.cloudStatus = .localCopy
                    try tx.items.insert(folder)
                }
                var top = folderItem("/top")
                top.fileID = FileID("/top")
                try tx.items.insert(top)
            }
            _ = try fixture.reconcile("/")
            try await body(fixture)
        }
    }

    private func expectNothingConcluded(_ fixture: Fixture, _ before: [String: CloudStatus]) throws {
        // The scopes are the whole tree, the folder alone, a folder in it, and a file in it, as the watcher reports
        // them.
        for scope in ["/", "/top/sub", "/top/sub/deep", "/top/sub/own/mine"] {
            let result = try fixture.reconcile(scope)
            #expect(result.findings.isEmpty, "\(scope)")
            #expect(Array(result.unreadable.keys) == [ItemPath(unchecked: "/top/sub")], "\(scope)")
            #expect(try fixture.statuses() == before, "\(scope)")
        }
        #expect(fixture.tree.tree.whyUnreadable(ItemPath(unchecked: "/top/sub")) != nil)
    }

    private func expectReadable(_ fixture: Fixture, _ before: [String: CloudStatus]) throws {
        #expect(fixture.tree.tree.whyUnreadable(ItemPath(unchecked: "/top/sub")) == nil)
        #expect(try fixture.reconcile("/") == Reconciliation())
        #expect(try fixture.statuses() == before)
    }

    @Test("A folder that became a symbolic link frees nothing, and nothing is forgotten")
    func link() async throws {
        try await with { fixture in
            let before = try fixture.statuses()
            #expect(before["/top/sub/changed"] == .locallyModified && before["/top/sub/own/mine"] == .localOnly)
            let elsewhere = fixture.tree.incoming + "/elsewhere"
            rename(fixture.sub, elsewhere)
            #expect(symlink(elsewhere, fixture.sub) == 0)
            try expectNothingConcluded(fixture, before)
            unlink(fixture.sub)
            rename(elsewhere, fixture.sub)
            try expectReadable(fixture, before)
            // Once the folder is readable, a missing copy counts as removed.
            Files.remove(fixture.sub + "/copy")
            #expect(try fixture.reconcile("/").findings.map(\.kind) == [.removed])
        }
    }

    @Test(
        "Nor does a folder on which another file system is mounted",
        .enabled(if: Build.isRoot, "mounting needs root"))
    func mountPoint() async throws {
        try await with { fixture in
            let before = try fixture.statuses()
            try await mustRun("mount", ["-t", "tmpfs", "tmpfs", fixture.sub])
            do { try expectNothingConcluded(fixture, before) } catch { Issue.record(error) }
            try await mustRun("umount", [fixture.sub])
            try expectReadable(fixture, before)
        }
    }

    @Test("A folder that a person removed, or put a file in its place, is gone with all that was in it")
    func gone() async throws {
        try await with { fixture in
            Files.remove(fixture.sub)
            try Files.write("a file", to: fixture.sub)
            let result = try fixture.reconcile("/top/sub")
            #expect(result.unreadable.isEmpty)
            #expect(result.findings.count { $0.kind == .removed } == 7)
        }
    }
}
