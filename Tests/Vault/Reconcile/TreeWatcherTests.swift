import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import Database
@testable import LocalTree
@testable import Vault

/// Tests of the watcher with the kernel's own events. One after the other: watchers that begin while all queues have one
/// share a queue, and its numbers of watches.
@Suite(.serialized) struct TreeWatcherTests {
    /// A watched tree and the changes that its watcher reported.
    private struct Fixture {
        let tree: TreeFixture
        let watcher: TreeWatcher
        let time: TestClock
        let wakes: Counter

        /// Returns the paths at which something changed since the last call.
        func changed() async -> Set<ItemPath> {
            await watcher.note([])
            time.advance(.seconds(3600))
            return Set(watcher.take().map(\.path))
        }

        /// Calls `body` and expects the watcher to report these paths.
        func expect(
            _ paths: [String], _ place: SourceLocation = #_sourceLocation, after body: () throws -> Void
        ) async throws {
            let changed = try await after(body)
            #expect(changed == Set(paths.map(ItemPath.init(unchecked:))), sourceLocation: place)
        }

        /// Calls `body` and returns the paths that the watcher reports.
        func after(_ body: () throws -> Void) async throws -> Set<ItemPath> {
            try body()
            return await changed()
        }
    }

    private func watching(
        _ paths: [String], most: Int = .max, _ body: (Fixture) async throws -> Void
    ) async throws {
        try await TreeFixture.with { tree in
            for path in paths {
                if path.hasSuffix("/") {
                    try Files.makeFolder(tree.root + path.dropLast())
                } else {
                    try Files.write("old", to: tree.root + path)
                }
            }
            let (time, wakes) = (TestClock(), Counter())
            let watcher = try TreeWatcher(tree.tree, most: most, monotonic: { time.monotonic }) { wakes.add() }
            await watcher.walk()
            do {
                try await body(Fixture(tree: tree, watcher: watcher, time: time, wakes: wakes))
            } catch {
                Issue.record(error)
            }
            await watcher.end()
        }
    }

    @Test("LC5: files that are made, changed, touched, moved and removed are noticed; those that are read are not")
    func files() async throws {
        try await watching(["/a/b/file", "/a/other", "/top"]) { fixture in
            let root = fixture.tree.root
            #expect(await fixture.changed() == [])
            try await fixture.expect(["/a/new"]) { try Files.write("new", to: root + "/a/new") }
            try await fixture.expect(["/a/b/file"]) { try Files.write("changed", to: root + "/a/b/file") }
            try await fixture.expect(["/top"]) { utimensat(AT_FDCWD, root + "/top", nil, 0) }
            try await fixture.expect(["/a/new", "/moved"]) { rename(root + "/a/new", root + "/moved") }
            try await fixture.expect(["/a/b/linked"]) { link(root + "/moved", root + "/a/b/linked") }
            try await fixture.expect(["/a/b/file"]) { Files.remove(root + "/a/b/file") }
            let read = try await fixture.after {
                _ = try Files.text(root + "/top")
                _ = try Files.names(in: root + "/a")
                _ = fixture.tree.tree.read(fixture.tree.path("/a/other"), comparingWith: [])
                _ = try Reconciler(
                    database: .open(path: fixture.tree.incoming + "/../larder.db"), tree: fixture.tree.tree
                ).run()
            }
            #expect(read == [])
        }
    }

    @Test("A file that stays open is noticed while it is written, and a mapped one when it is let go")
    func openFiles() async throws {
        try await watching(["/a"]) { fixture in
            let file = open(fixture.tree.root + "/a", O_RDWR | O_CLOEXEC)
            try await fixture.expect(["/a"]) { _ = pwrite(file, "x", 1, 0) }
            let map = mmap(nil, 3, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            try await fixture.expect([]) { close(file) }
            map?.storeBytes(of: 1, as: UInt8.self)
            try await fixture.expect(["/a"]) { munmap(map, 3) }
        }
    }

    @Test(
        "LC5: folders that are made or moved in are watched with all that is in them; those that are moved out are not")
    func folders() async throws {
        try await watching(["/keep/x"]) { fixture in
            let root = fixture.tree.root
            let outside = fixture.tree.incoming
            try Files.write("1", to: outside + "/new/deep/er/file")
            try await fixture.expect(["/new"]) { rename(outside + "/new", root + "/new") }
            try await fixture.expect(["/new/deep/er/file"]) { try Files.write("2", to: root + "/new/deep/er/file") }
            // The folders and the file are made at once, so the watch may come after the folder's contents. The watcher
            // therefore reports the whole folder.
            try await fixture.expect(["/made"]) { try Files.write("3", to: root + "/made/at/once") }
            try await fixture.expect(["/made/at/file"]) { try Files.write("4", to: root + "/made/at/file") }

            try await fixture.expect(["/new/deep", "/keep/deep"]) { rename(root + "/new/deep", root + "/keep/deep") }
            try await fixture.expect(["/keep/deep/er/file"]) { try Files.write("5", to: root + "/keep/deep/er/file") }

            try await fixture.expect(["/keep"]) { rename(root + "/keep", outside + "/keep") }
            try await fixture.expect([]) { try Files.write("6", to: outside + "/keep/deep/er/file") }
            try await fixture.expect(["/keep"]) { try Files.write("7", to: root + "/keep/again") }
            try await fixture.expect(["/made"]) { Files.remove(root + "/made") }
        }
    }

    @Test("LC5: whatever is moved, every folder is watched afterwards under the path that it has")
    func randomMoves() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        try await watching(["/a/b/c/", "/d/e/"]) { fixture in
            let root = fixture.tree.root
            var names: [String] { ["a", "b", "c", "d", "e"].shuffled(using: &random) }
            func somewhere() -> String {
                "\(root)/" + names.prefix(Int.random(in: 1...3, using: &random)).joined(separator: "/")
            }
            for _ in 0..<60 {
                // The changes come as fast as possible, so the watcher may or may not fall behind.
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<4: _ = mkdir(somewhere(), 0o755)
                    case 4..<9: _ = rename(somewhere(), somewhere())
                    default: _ = rmdir(somewhere())
                    }
                }
                if Bool.random(using: &random) { _ = await fixture.changed() }
            }
            _ = await fixture.changed()
            var folders: [String] = []
            func list(_ folder: String) throws {
                folders.append(folder)
                for name in try Files.names(in: root + folder) { try list("\(folder)/\(name)") }
            }
            try list("")
            var probes: Set<ItemPath> = []
            for folder in folders {
                let changed = try await fixture.after { try Files.write("x", to: "\(root)\(folder)/probe") }
                let probe = ItemPath(unchecked: "\(folder)/probe")
                probes.insert(probe)
                // The kernel may report late that an earlier file was closed.
                #expect(
                    changed.contains(probe) && probes.isSuperset(of: changed), "LARDER_TEST_SEED=\(seed), \(folders)")
            }
        }
    }

    @Test("Names with a line end and in both normal forms are told as they are; those that are not UTF-8 are nobody's")
    func names() async throws {
        try await watching([]) { fixture in
            let root = fixture.tree.root
            let forms = ["/new\nline", "/caf\u{e9}", "/cafe\u{301}"]
            try await fixture.expect(forms) {
                for name in forms { try Files.write("x", to: root + name) }
            }
            let strange = try await fixture.after {
                for bytes in [[0xff, 0x66], [0xff, 0x67]] as [[UInt8]] {
                    let name = (Array("\(root)/".utf8) + bytes + [0]).map { CChar(bitPattern: $0) }
                    if bytes[1] == 0x66 { close(open(name, O_CREAT | O_WRONLY, 0o600)) } else { mkdir(name, 0o700) }
                }
            }
            #expect(strange == [])
            #expect(fixture.watcher.limit == nil)
        }
    }

    @Test("A symbolic link is not followed, whether it was there or comes")
    func links() async throws {
        try await watching(["/a/"]) { fixture in
            let (root, outside) = (fixture.tree.root, fixture.tree.incoming + "/elsewhere")
            try Files.makeFolder(outside)
            try await fixture.expect(["/link"]) { symlink(outside, root + "/link") }
            await fixture.watcher.walk()
            try await fixture.expect([]) { try Files.write("x", to: outside + "/file") }
            try await fixture.expect(["/a"]) {
                rmdir(root + "/a")
                symlink(outside, root + "/a")
            }
            try await fixture.expect([]) { try Files.write("y", to: outside + "/file") }
        }
    }

    @Test("LC6: when events are lost everything is compared again, and every folder is watched again")
    func overflow() async throws {
        try await watching(["/a/b/file"]) { fixture in
            let file = fixture.tree.root + "/a/b/file"
            // These events simulate a folder whose creation event was lost, so its watch is unknown.
            func event(_ watch: Int32, _ mask: Int32) -> WatchEvent {
                WatchEvent(watch: watch, mask: UInt32(mask), name: nil, isAboutEntry: false)
            }
            let watches = try ["/a/b", "/a"].map { path in
                try #require(fixture.watcher.folders.withLock { $0.watch(at: ItemPath(unchecked: path)) })
            }
            await fixture.watcher.note(watches.map { event($0, IN_IGNORED) })
            try await fixture.expect([]) { try Files.write("1", to: file) }
            await fixture.watcher.note([event(-1, IN_Q_OVERFLOW)])
            #expect(await fixture.changed() == [.root])
            try await fixture.expect(["/a/b/file"]) { try Files.write("2", to: file) }
        }
    }

    @Test("LC6: folders beyond the system's limit are named with the limit; the others are watched on")
    func limit() async throws {
        try await watching(["/a/", "/b/", "/c/"], most: 3) { fixture in
            let limit = try #require(fixture.watcher.limit)
            #expect(limit.kind == .localIO && limit.message.contains("fs.inotify.max_user_watches"), "\(limit)")
            #expect(limit.hint?.description.contains("sysctl") == true)
            try await fixture.expect(["/file"]) { try Files.write("x", to: fixture.tree.root + "/file") }
            Files.remove(fixture.tree.root + "/a")
            Files.remove(fixture.tree.root + "/b")
            await fixture.watcher.walk()
            #expect(fixture.watcher.limit == nil)
            _ = await fixture.changed()
            try await fixture.expect(["/c/file"]) { try Files.write("x", to: fixture.tree.root + "/c/file") }
        }
    }

    @Test("LC4: a root that is moved wakes whoever compares, and is not where it was")
    func root() async throws {
        try await watching(["/a"]) { fixture in
            let root = fixture.tree.root
            #expect(fixture.tree.tree.isInPlace)
            let before = fixture.wakes.value
            rename(root, root + "-moved")
            await fixture.watcher.note([])
            #expect(fixture.wakes.value > before && !fixture.tree.tree.isInPlace)
            try Files.makeFolder(root)
            #expect(!fixture.tree.tree.isInPlace)
            rmdir(root)
            rename(root + "-moved", root)
            #expect(fixture.tree.tree.isInPlace)
        }
    }

    @Test(
        "What has happened is told before the answer to who asks for all of it, also by a watcher that has just begun")
    func order() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [self] in
                    for _ in 0..<40 {
                        try await watching([]) { fixture in
                            let root = fixture.tree.root
                            let changed = try await fixture.after { try Files.write("x", to: root + "/a") }
                            #expect(changed == [ItemPath(unchecked: "/a")])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Whoever compares is woken when there is something to do sooner than it knows of")
    func waking() async throws {
        try await watching([]) { fixture in
            #expect(fixture.watcher.next() == nil)
            let root = fixture.tree.root
            _ = try await fixture.after { try Files.write("x", to: root + "/a") }
            let first = fixture.wakes.value
            #expect(first > 0)
            #expect(fixture.watcher.next() == nil)
            for name in ["a", "b"] { try Files.write("x", to: "\(root)/\(name)") }
            await fixture.watcher.note([])
            let second = fixture.wakes.value
            #expect(second > first)
            #expect(fixture.watcher.next() == DirtyPaths.gathering)
            try Files.write("y", to: root + "/b")
            await fixture.watcher.note([])
            #expect(fixture.wakes.value == second)
        }
    }

    @Test("It ends, and asking it for more then does nothing")
    func ending() async throws {
        try await watching(["/a/"]) { fixture in
            await fixture.watcher.end()
            await fixture.watcher.end()
            await fixture.watcher.walk()
            try Files.write("x", to: fixture.tree.root + "/a/b")
            #expect(fixture.watcher.take() == [])
        }
    }
}
