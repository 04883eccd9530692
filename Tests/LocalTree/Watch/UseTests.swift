import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

/// Tests of the uses of files that the watcher counts, with the kernel's own events.
@Suite(.serialized) struct UseTests {
    private struct Fixture {
        let tree: TreeFixture
        let watcher: TreeWatcher
        let uses: UseLog

        /// Returns the files that are used during `body`, each once.
        func used(after body: () throws -> Void) async throws -> Set<String> {
            try body()
            await watcher.note([])
            let taken = uses.with { Set($0.take(now: .seconds(3_600)).keys.map(\.text)) }
            uses.with { _ = $0.take(now: .seconds(7_200)) }
            return taken
        }

        /// Returns the same files as ``used(after:)``, but waits for an event that the kernel reports late because a
        /// child process of another test inherited the open file for a moment.
        func usedAtLast(after body: () throws -> Void) async throws -> Set<String> {
            var taken = try await used(after: body)
            while taken.isEmpty, !Task.isCancelled { taken = try await used {} }
            return taken
        }
    }

    private func watching(
        ignoring names: [String] = [], _ body: (Fixture) async throws -> Void
    ) async throws {
        try await TreeFixture.with { tree in
            for path in ["/a", "/Sub/b", "/Sub/c d %"] { try Files.write("content", to: tree.root + path) }
            let uses = UseLog()
            let watcher = try TreeWatcher(
                tree.tree, uses: uses, readers: UseReaders(ignoring: names), clock: { Timestamp(seconds: 7) },
                monotonic: { .zero }
            ) {}
            await watcher.walk()
            do {
                try await body(Fixture(tree: tree, watcher: watcher, uses: uses))
            } catch {
                Issue.record(error)
            }
            await watcher.end()
        }
    }

    @Test("P37: opening, reading and closing a file is a use of it; listing a folder or looking at a file is none")
    func kinds() async throws {
        try await watching { fixture in
            let root = fixture.tree.root
            #expect(try await fixture.used { _ = try Files.text(root + "/Sub/c d %") } == ["/Sub/c d %"])
            let looked = try await fixture.used {
                _ = try Files.names(in: root + "/Sub")
                _ = Files.isFolder(root + "/a")
            }
            // A child process of another test may have inherited the file that was read before, and may close it late.
            #expect(looked.isSubset(of: ["/Sub/c d %"]))
            let file = open(root + "/a", O_RDONLY | O_CLOEXEC)
            #expect(try await fixture.used {} == ["/a"])
            var byte: UInt8 = 0
            #expect(try await fixture.used { _ = read(file, &byte, 1) } == ["/a"])
            #expect(try await fixture.usedAtLast { close(file) } == ["/a"])
            // The folder has moved, and another folder is new.
            try Files.write("new", to: root + "/New/deep/d")
            rename(root + "/Sub", root + "/New/Sub")
            // Until the watcher has seen the move, only the access time shows a read in the folder.
            _ = try await fixture.used {}
            #expect(try await fixture.used { _ = try Files.text(root + "/New/Sub/b") }.contains("/New/Sub/b"))
        }
    }

    @Test("P37: what Larder itself opens is no use: reading, comparing, asking who has it open, removing")
    func own() async throws {
        try await watching { fixture in
            let tree = fixture.tree.tree
            let path = fixture.tree.path("/a")
            /// Whether each operation opened the file and completed.
            var isRead = false
            var hash = ContentHash()
            Array("content".utf8).withUnsafeBytes { hash.update($0) }
            let digest = hash.digest
            let read = {
                // The previous round moved the file aside and back, so its mark is new.
                let mark = try #require(tree.mark(at: path))
                let copy = LocalCopy(etag: ETag(opaque: "1", strength: .strong), digest: digest, mark: mark)
                // The file's content differs from the content that this value expects.
                var other = copy
                other.mark.modified = Timestamp(seconds: 1)
                other.digest = [UInt8](repeating: 0, count: 32)
                guard case .different = tree.read(path, comparingWith: []), tree.use(at: path) == .none,
                    case .modified = try tree.remove(at: path, known: other)
                else { return }
                isRead = true
            }
            // In rare cases a child process of another test inherits the open file for a moment and closes it late.
            var used: Set<String> = []
            for _ in 0..<5 {
                isRead = false
                used = try await fixture.used(after: read)
                if isRead, used.isEmpty { break }
            }
            #expect(isRead && used == [])
            // Opens by other programs count again once the events of Larder's own opens have been read. This takes a
            // moment on a busy machine.
            used = []
            for _ in 0..<5 where used.isEmpty {
                used = try await fixture.used { _ = try Files.text(fixture.tree.root + "/a") }
            }
            #expect(used == ["/a"])
        }
    }

    /// A program name that no other process has.
    private static let reader = "ldr-\(getpid())-rd"

    /// Runs a program with that name that has a file open until `body` is done.
    private func whileHeld(_ path: String, in folder: String, _ body: () async throws -> Void) async throws {
        try await mustRun("cp", ["/usr/bin/tail", "\(folder)/\(Self.reader)"])
        let child = try ChildProcess("\(folder)/\(Self.reader)", ["-f", path])
        await until { OpenFiles.files(of: child.pid).contains { $0 == number(of: path) } }
        do { try await body() } catch { Issue.record(error) }
        await child.stop()
    }

    private func number(of path: String) -> FileNumber? {
        var info = stat()
        return stat(path, &info) == 0 ? FileNumber(info) : nil
    }

    @Test("P37: what a listed program has open is not used; nor is what nobody has open any more while one runs")
    func ignored() async throws {
        try await watching(ignoring: [Self.reader, "a name that is longer than names are"]) { fixture in
            let root = fixture.tree.root
            #expect(try await fixture.used { _ = try Files.text(root + "/a") } == ["/a"])
            try await whileHeld(root + "/Sub/b", in: fixture.tree.incoming) {
                #expect(try await fixture.used {} == [])
                #expect(try await fixture.used { _ = try Files.text(root + "/a") } == [])
                // Another program visibly holds the file.
                let child = try ChildProcess("sleep", ["1000"], output: root + "/a")
                #expect(try await fixture.used {} == ["/a"])
                await child.stop()
            }
        }
        try await watching(ignoring: ["nobody"]) { fixture in
            try await whileHeld(fixture.tree.root + "/Sub/b", in: fixture.tree.incoming) { () async throws in
                let used = try await fixture.used {}
                #expect(used == ["/Sub/b"])
            }
        }
    }
}
