import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import Database
@testable import LocalTree
@testable import Vault

/// The watcher with the kernel's own events.
@Suite struct TreeWatcherTests {
    /// A watched tree, and what was told of it.
    private struct Watched {
        let tree: TreeFixture
        let watcher: TreeWatcher
        let time: Clock
        let wakes: Clock

        /// The paths at which something changed since this was asked last.
        func changed() async -> Set<ItemPath> {
            await watcher.note([])
            time.advance(.seconds(3600))
            return Set(watcher.take().map(\.path))
        }

        /// Does something that is noticed at these paths.
        func expect(
            _ paths: [String], _ place: SourceLocation = #_sourceLocation, after body: () throws -> Void
        ) async throws {
            let changed = try await after(body)
            #expect(changed == Set(paths.map(ItemPath.init(unchecked:))), sourceLocation: place)
        }

        /// Does something and says where the watcher noticed it.
        func after(_ body: () throws -> Void) async throws -> Set<ItemPath> {
            try body()
            return await changed()
        }
    }

    /// A duration that is put forward.
    private final class Clock: Sendable {
        private let value = Mutex(Duration.zero)
        var now: Duration { value.withLock { $0 } }
        func advance(_ duration: Duration) { value.withLock { $0 += duration } }
    }

    private func watching(
        _ paths: [String], most: Int = .max, _ body: (Watched) async throws -> Void
    ) async throws {
        try await TreeFixture.with { tree in
            for path in paths {
                if path.hasSuffix("/") {
                    try Files.makeFolder(tree.root + path.dropLast())
                } else {
                    try Files.write("old", to: tree.root + path)
                }
            }
            let (time, wakes) = (Clock(), Clock())
            let watcher = try TreeWatcher(tree.tree, most: most, monotonic: { time.now }) { wakes.advance(.seconds(1)) }
            await watcher.walk()
            do {
                try await body(Watched(tree: tree, watcher: watcher, time: time, wakes: wakes))
            } catch {
                Issue.record(error)
            }
            await watcher.end()
        }
    }

    @Test("LC5: files that are made, changed, touched, moved and removed are noticed; those that are read are not")
    func files() async throws {
        try await watching(["/a/b/file", "/a/other", "/top"]) { watched in
            let root = watched.tree.root
            #expect(await watched.changed() == [])
            try await watched.expect(["/a/new"]) { try Files.write("new", to: root + "/a/new") }
            try await watched.expect(["/a/b/file"]) { try Files.write("changed", to: root + "/a/b/file") }
            try await watched.expect(["/top"]) { utimensat(AT_FDCWD, root + "/top", nil, 0) }
            try await watched.expect(["/a/new", "/moved"]) { rename(root + "/a/new", root + "/moved") }
            try await watched.expect(["/a/b/linked"]) { link(root + "/moved", root + "/a/b/linked") }
            try await watched.expect(["/a/b/file"]) { Files.remove(root + "/a/b/file") }
            let read = try await watched.after {
                _ = try Files.text(root + "/top")
                _ = try Files.names(in: root + "/a")
                _ = watched.tree.tree.read(watched.tree.path("/a/other"), comparingWith: [])
                _ = try Reconciler(
                    database: .open(path: watched.tree.incoming + "/../larder.db"), tree: watched.tree.tree
                ).run()
            }
            #expect(read == [])
        }
    }

    @Test("A file that stays open is noticed while it is written, and a mapped one when it is let go")
    func openFiles() async throws {
        try await watching(["/a"]) { watched in
            let file = open(watched.tree.root + "/a", O_RDWR | O_CLOEXEC)
            try await watched.expect(["/a"]) { _ = pwrite(file, "x", 1, 0) }
            let map = mmap(nil, 3, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            try await watched.expect([]) { close(file) }
            map?.storeBytes(of: 1, as: UInt8.self)
            try await watched.expect(["/a"]) { munmap(map, 3) }
        }
    }

    @Test(
        "LC5: folders that are made or moved in are watched with all that is in them; those that are moved out are not")
    func folders() async throws {
        try await watching(["/keep/x"]) { watched in
            let root = watched.tree.root
            let outside = watched.tree.incoming
            try Files.write("1", to: outside + "/new/deep/er/file")
            try await watched.expect(["/new"]) { rename(outside + "/new", root + "/new") }
            try await watched.expect(["/new/deep/er/file"]) { try Files.write("2", to: root + "/new/deep/er/file") }
            // All at once: the watch may come after what is in the folder, which is looked at whole.
            try await watched.expect(["/made"]) { try Files.write("3", to: root + "/made/at/once") }
            try await watched.expect(["/made/at/file"]) { try Files.write("4", to: root + "/made/at/file") }

            try await watched.expect(["/new/deep", "/keep/deep"]) { rename(root + "/new/deep", root + "/keep/deep") }
            try await watched.expect(["/keep/deep/er/file"]) { try Files.write("5", to: root + "/keep/deep/er/file") }

            try await watched.expect(["/keep"]) { rename(root + "/keep", outside + "/keep") }
            try await watched.expect([]) { try Files.write("6", to: outside + "/keep/deep/er/file") }
            try await watched.expect(["/keep"]) { try Files.write("7", to: root + "/keep/again") }
            try await watched.expect(["/made"]) { Files.remove(root + "/made") }
        }
    }

    @Test("LC5: whatever is moved, every folder is watched afterwards under the path that it has")
    func randomMoves() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("moves: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        try await watching(["/a/b/c/", "/d/e/"]) { watched in
            let root = watched.tree.root
            var names: [String] { ["a", "b", "c", "d", "e"].shuffled(using: &random) }
            func somewhere() -> String {
                "\(root)/" + names.prefix(Int.random(in: 1...3, using: &random)).joined(separator: "/")
            }
            for _ in 0..<60 {
                // As fast as it goes: the watcher is behind, or not.
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<4: _ = mkdir(somewhere(), 0o755)
                    case 4..<9: _ = rename(somewhere(), somewhere())
                    default: _ = rmdir(somewhere())
                    }
                }
                if Bool.random(using: &random) { _ = await watched.changed() }
            }
            _ = await watched.changed()
            var folders: [String] = []
            func list(_ folder: String) throws {
                folders.append(folder)
                for name in try Files.names(in: root + folder) { try list("\(folder)/\(name)") }
            }
            try list("")
            var probes: Set<ItemPath> = []
            for folder in folders {
                let changed = try await watched.after { try Files.write("x", to: "\(root)\(folder)/probe") }
                let probe = ItemPath(unchecked: "\(folder)/probe")
                probes.insert(probe)
                // The kernel may tell late that a file of before was closed.
                #expect(changed.contains(probe) && probes.isSuperset(of: changed), "seed \(seed), \(folders)")
            }
        }
    }

    @Test("Names with a line end and in both normal forms are told as they are; those that are not UTF-8 are nobody's")
    func names() async throws {
        try await watching([]) { watched in
            let root = watched.tree.root
            let forms = ["/new\nline", "/caf\u{e9}", "/cafe\u{301}"]
            try await watched.expect(forms) {
                for name in forms { try Files.write("x", to: root + name) }
            }
            let strange = try await watched.after {
                for bytes in [[0xff, 0x66], [0xff, 0x67]] as [[UInt8]] {
                    let name = (Array("\(root)/".utf8) + bytes + [0]).map { CChar(bitPattern: $0) }
                    if bytes[1] == 0x66 { close(open(name, O_CREAT | O_WRONLY, 0o600)) } else { mkdir(name, 0o700) }
                }
            }
            #expect(strange == [])
            #expect(watched.watcher.limit == nil)
        }
    }

    @Test("A symbolic link is not followed, whether it was there or comes")
    func links() async throws {
        try await watching(["/a/"]) { watched in
            let (root, outside) = (watched.tree.root, watched.tree.incoming + "/elsewhere")
            try Files.makeFolder(outside)
            try await watched.expect(["/link"]) { symlink(outside, root + "/link") }
            await watched.watcher.walk()
            try await watched.expect([]) { try Files.write("x", to: outside + "/file") }
            try await watched.expect(["/a"]) {
                rmdir(root + "/a")
                symlink(outside, root + "/a")
            }
            try await watched.expect([]) { try Files.write("y", to: outside + "/file") }
        }
    }

    @Test("LC6: when events are lost everything is compared again, and every folder is watched again")
    func overflow() async throws {
        try await watching(["/a/b/file"]) { watched in
            let file = watched.tree.root + "/a/b/file"
            // As if the folder had come with an event that was lost: nobody knows its watch.
            func event(_ watch: Int32, _ mask: Int32) -> WatchEvent {
                WatchEvent(watch: watch, mask: UInt32(mask), name: nil, isAboutEntry: false)
            }
            await watched.watcher.note([event(2, IN_IGNORED), event(3, IN_IGNORED)])
            try await watched.expect([]) { try Files.write("1", to: file) }
            await watched.watcher.note([event(-1, IN_Q_OVERFLOW)])
            #expect(await watched.changed() == [.root])
            try await watched.expect(["/a/b/file"]) { try Files.write("2", to: file) }
        }
    }

    @Test("LC6: folders beyond the system's limit are named with the limit; the others are watched on")
    func limit() async throws {
        try await watching(["/a/", "/b/", "/c/"], most: 3) { watched in
            let limit = try #require(watched.watcher.limit)
            #expect(limit.kind == .localIO && limit.message.contains("fs.inotify.max_user_watches"), "\(limit)")
            #expect(limit.hint?.description.contains("sysctl") == true)
            try await watched.expect(["/file"]) { try Files.write("x", to: watched.tree.root + "/file") }
            Files.remove(watched.tree.root + "/a")
            Files.remove(watched.tree.root + "/b")
            await watched.watcher.walk()
            #expect(watched.watcher.limit == nil)
            _ = await watched.changed()
            try await watched.expect(["/c/file"]) { try Files.write("x", to: watched.tree.root + "/c/file") }
        }
    }

    @Test("LC4: a root that is moved wakes whoever compares, and is not where it was")
    func root() async throws {
        try await watching(["/a"]) { watched in
            let root = watched.tree.root
            #expect(watched.tree.tree.isInPlace)
            let before = watched.wakes.now
            rename(root, root + "-moved")
            await watched.watcher.note([])
            #expect(watched.wakes.now > before && !watched.tree.tree.isInPlace)
            try Files.makeFolder(root)
            #expect(!watched.tree.tree.isInPlace)
            rmdir(root)
            rename(root + "-moved", root)
            #expect(watched.tree.tree.isInPlace)
        }
    }

    @Test("Whoever compares is woken when there is something to do sooner than it knows of")
    func waking() async throws {
        try await watching([]) { watched in
            #expect(watched.watcher.next() == nil)
            let root = watched.tree.root
            _ = try await watched.after { try Files.write("x", to: root + "/a") }
            let first = watched.wakes.now
            #expect(first > .zero)
            #expect(watched.watcher.next() == nil)
            for name in ["a", "b"] { try Files.write("x", to: "\(root)/\(name)") }
            await watched.watcher.note([])
            let second = watched.wakes.now
            #expect(second > first)
            #expect(watched.watcher.next() == DirtyPaths.gathering)
            try Files.write("y", to: root + "/b")
            await watched.watcher.note([])
            #expect(watched.wakes.now == second)
        }
    }

    @Test("It ends, and asking it for more then does nothing")
    func ending() async throws {
        try await watching(["/a/"]) { watched in
            await watched.watcher.end()
            await watched.watcher.end()
            await watched.watcher.walk()
            try Files.write("x", to: watched.tree.root + "/a/b")
            #expect(watched.watcher.take() == [])
        }
    }
}
