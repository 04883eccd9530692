import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

@Suite struct PlaceTests {
    @Test(
        "A download is put in place with the server's time, for its owner alone, in folders of its own",
        arguments: testedFolders)
    func place(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let time = Timestamp(nanoseconds: -1_500_000_000)
            let file = try fixture.complete("hello", modified: time)
            #expect(file.digest == sha256("hello"))
            guard case .placed(let mark) = try fixture.tree.place(file, at: fixture.path("/a/b/c"), replacing: nil)
            else {
                Issue.record("not placed")
                return
            }
            #expect(fixture.content("/a/b/c") == "hello")
            #expect(mark.modified == time && mark.size == 5)
            #expect(fixture.leftInIncoming.isEmpty)
            var info = stat()
            #expect(stat(fixture.root + "/a/b/c", &info) == 0 && info.st_mode & 0o777 == 0o600)
            #expect(stat(fixture.root + "/a/b", &info) == 0 && info.st_mode & 0o777 == 0o700)
        }
    }

    @Test(
        "A file that nothing is known of is left alone; one with the same content is the download",
        arguments: testedFolders)
    func placeOnUnknown(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            try Files.write("mine", to: fixture.root + "/a")
            #expect(
                try fixture.tree.place(fixture.complete("ours"), at: fixture.path("/a"), replacing: nil) == .modified)
            #expect(
                try fixture.tree.place(fixture.complete("longer"), at: fixture.path("/a"), replacing: nil) == .modified)
            #expect(fixture.content("/a") == "mine")
            #expect(fixture.leftInIncoming == ["1-a"])
            guard
                case .alreadyThere(let mark) = try fixture.tree.place(
                    fixture.complete("mine"), at: fixture.path("/a"), replacing: nil)
            else {
                Issue.record("the same content was not found")
                return
            }
            #expect(fixture.tree.mark(at: fixture.path("/a"))?.matches(mark) == true)
            #expect(fixture.leftInIncoming.isEmpty)
        }
    }

    @Test("A copy gets another modification time if it is the file that is known", arguments: testedFolders)
    func date(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let copy = try fixture.place("old", at: "/a")
            let time = Timestamp(nanoseconds: -1_500_000_000)
            let mark = try #require(fixture.tree.setModificationTime(time, of: copy, at: fixture.path("/a")))
            #expect(mark.modified == time && fixture.content("/a") == "old")
            #expect(fixture.tree.mark(at: fixture.path("/a"))?.matches(mark) == true)
            // The old mark is that of another file by now, as after a process that was killed in between.
            #expect(fixture.tree.setModificationTime(time, of: copy, at: fixture.path("/a")) == nil)
            guard case .same = fixture.tree.read(fixture.path("/a"), comparingWith: copy.digest) else {
                Issue.record("the content is not found any more")
                return
            }
            #expect(fixture.tree.setModificationTime(time, of: copy, at: fixture.path("/none")) == nil)
        }
    }

    @Test("A copy that a program writes keeps its modification time", arguments: testedFolders)
    func dateInUse(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let copy = try fixture.place("old", at: "/a")
            let writer = open(fixture.root + "/a", O_WRONLY)
            defer { close(writer) }
            #expect(fixture.tree.setModificationTime(Timestamp(seconds: 1), of: copy, at: fixture.path("/a")) == nil)
            #expect(fixture.tree.mark(at: fixture.path("/a"))?.matches(copy.mark) == true)
        }
    }

    @Test("A known copy is replaced, whether its mark is proof or it is read", arguments: testedFolders, [true, false])
    func replace(folder: String, isProof: Bool) throws {
        try TreeFixture.with(on: folder) { fixture in
            let old = try fixture.place("old", at: "/a")
            let outcome = try fixture.tree.place(
                fixture.complete("new"), at: fixture.path("/a"), replacing: isProof ? fixture.settled(old) : old)
            guard case .placed(let mark) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(fixture.content("/a") == "new")
            #expect(fixture.tree.mark(at: fixture.path("/a"))?.matches(mark) == true)
            #expect(fixture.leftInIncoming.isEmpty)
        }
    }

    @Test("P44: a modified file is not replaced, whatever its size and time say", arguments: testedFolders)
    func modified(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let old = fixture.settled(try fixture.place("old", at: "/a"))
            try Files.write("OLD", to: fixture.root + "/a")
            var times = [timespec(tv_sec: 1_600_000_000, tv_nsec: 0), timespec(tv_sec: 1_600_000_000, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, fixture.root + "/a", &times, 0) == 0)
            #expect(
                try fixture.tree.place(fixture.complete("new"), at: fixture.path("/a"), replacing: old) == .modified)
            #expect(try fixture.tree.remove(at: fixture.path("/a"), known: old) == .modified)
            #expect(fixture.content("/a") == "OLD")
            #expect(fixture.leftInIncoming == ["1-a"])
        }
    }

    @Test("A file whose time alone was changed is read, and known")
    func touched() throws {
        try TreeFixture.with { fixture in
            let old = fixture.settled(try fixture.place("old", at: "/a"))
            #expect(utimensat(AT_FDCWD, fixture.root + "/a", nil, 0) == 0)
            #expect(try fixture.tree.remove(at: fixture.path("/a"), known: old) == .removed)
            #expect(!Files.exists(fixture.root + "/a"))
        }
    }

    @Test("A copy that is gone is put in place again, and there is nothing to remove")
    func gone() throws {
        try TreeFixture.with { fixture in
            let old = try fixture.place("old", at: "/a")
            Files.remove(fixture.root + "/a")
            #expect(try fixture.tree.remove(at: fixture.path("/a"), known: old) == .nothingThere)
            #expect(try fixture.tree.remove(at: fixture.path("/no/folder"), known: old) == .nothingThere)
            _ = try fixture.tree.place(fixture.complete("new"), at: fixture.path("/a"), replacing: old)
            #expect(fixture.content("/a") == "new")
        }
    }

    @Test("S15: a reader sees the old file or the new one, never a mix and never none")
    func swap() async throws {
        try await TreeFixture.with { fixture in
            let size = 100_000
            var copy = try fixture.place(String(repeating: "a", count: size), at: "/a")
            let path = fixture.root + "/a"
            let isDone = Atomic(false)
            async let reader = onThread {
                var seen: Set<UInt8> = []
                while !isDone.load(ordering: .relaxed) {
                    let bytes = try Files.read(path)
                    guard bytes.count == size, Set(bytes).count == 1 else { throw SetupError("a mix") }
                    seen.insert(bytes[0])
                }
                return seen.count
            }
            defer { isDone.store(true, ordering: .relaxed) }
            for round in 1...100 {
                let letter = String(UnicodeScalar(UInt8(97 + round % 26)))
                let file = try fixture.complete(String(repeating: letter, count: size))
                var outcome = PlaceOutcome.inUse
                // A child process that is just starting has open every file that the test's process has open.
                try await until {
                    outcome = try fixture.tree.place(file, at: fixture.path("/a"), replacing: copy)
                    return outcome != .inUse
                }
                guard case .placed(let mark) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                copy = LocalCopy(etag: copy.etag, digest: file.digest, mark: mark)
                await Task.yield()
            }
            isDone.store(true, ordering: .relaxed)
            #expect(try await reader >= 1)
        }
    }

    @Test("What is in the way is named, and nothing is written", arguments: testedFolders)
    func obstructions(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let outside = fixture.incoming + "/outside"
            try Files.makeFolder(outside)
            try Files.makeFolder(fixture.root + "/folder")
            try Files.write("f", to: fixture.root + "/file")
            #expect(symlink(outside, fixture.root + "/link") == 0)
            #expect(symlink(outside + "/target", fixture.root + "/filelink") == 0)
            #expect(mkfifo(fixture.root + "/pipe", 0o600) == 0)
            let expected: [(String, Obstruction)] = [
                ("/folder", .folder), ("/file/x", .file), ("/file/x/y", .file), ("/link/x", .symbolicLink),
                ("/link/x/y", .symbolicLink),
                ("/link", .symbolicLink), ("/filelink", .symbolicLink), ("/pipe", .special), ("/pipe/x", .special),
                ("/", .folder),
            ]
            let file = try fixture.complete("new")
            let known = LocalCopy(etag: ETag(opaque: "1", strength: .strong), digest: sha256("f"), mark: file.mark)
            for (path, obstruction) in expected {
                for copy in [nil, known] {
                    let outcome = try fixture.tree.place(file, at: fixture.path(path), replacing: copy)
                    #expect(outcome == .obstructed(obstruction), "\(path)")
                }
            }
            // A file behind the link does not count as gone.
            let failure = #expect(throws: Failure.self) {
                try fixture.tree.remove(at: fixture.path("/link/x"), known: known)
            }
            #expect(failure?.kind == .localIO)
            #expect(try fixture.tree.remove(at: fixture.path("/link"), known: known) == .obstructed(.symbolicLink))
            #expect(try fixture.tree.makeFolder(fixture.path("/link/x")) == .obstructed(.symbolicLink))
            #expect(try fixture.tree.makeFolder(fixture.path("/file")) == .obstructed(.file))
            #expect(try Files.names(in: outside).isEmpty)
            #expect(try Files.names(in: fixture.root).count == 5)
            #expect(fixture.leftInIncoming == ["1-a", "outside"])
        }
    }

    @Test("A name of 255 bytes is taken; NFC and NFD of one name, and two cases of it, are files of their own")
    func names() throws {
        try TreeFixture.with { fixture in
            let long = "/" + String(repeating: "n", count: 255)
            for path in [long, "/\u{e9}", "/e\u{301}", "/A", "/a", "/ %_#?;+'\"\n\u{1F4C4}"] {
                _ = try fixture.place(path, at: path)
                #expect(fixture.content(path) == path)
            }
            #expect(try Files.names(in: fixture.root).count == 6)
        }
    }
}
