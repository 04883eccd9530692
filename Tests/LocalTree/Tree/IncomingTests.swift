import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

@Suite struct IncomingTests {
    @Test("A download goes on where it stopped, with the same digest and checksums")
    func resume() throws {
        try TreeFixture.with { fixture in
            let first = try fixture.tree.incomingFile("7-x")
            try Array("hello ".utf8).withUnsafeBytes { try first.append($0) }
            #expect(fixture.tree.incomingSize("7-x") == 6)
            let second = try fixture.tree.incomingFile("7-x")
            #expect(second.size == 6)
            try second.compute(ChecksumAlgorithm.allCases)
            try Array("world".utf8).withUnsafeBytes { try second.append($0) }
            let file = try second.finish(modified: Timestamp(seconds: 5))
            #expect(file.digest == sha256("hello world") && file.size == 11)
            #expect(file.mark.modified == Timestamp(seconds: 5))
            #expect(file.checksum(.adler32) == [0x1a, 0x0b, 0x04, 0x5d])
            #expect(file.checksum(.sha1)?.prefix(4) == [0x2a, 0xae, 0x6c, 0x35])
            #expect(file.checksum(.md5)?.prefix(4) == [0x5e, 0xb6, 0x3b, 0xbb])
            #expect(file.checksum(.sha256) == file.digest)
            try second.restart()
            #expect(try second.finish(modified: nil).digest == sha256(""))
            second.abandon()
            #expect(fixture.leftInIncoming.isEmpty)
        }
    }

    @Test("A name that leads out of incoming/ is refused", arguments: ["", "../x", "a/b", "..", "aside.1.2.3", "a\0b"])
    func names(name: String) throws {
        try TreeFixture.with { fixture in
            _ = #expect(throws: Failure.self) { try fixture.tree.incomingFile(name) }
        }
    }

    @Test("At a start only what is wanted stays in incoming/; what was set aside goes, or is put back")
    func sweep() throws {
        try TreeFixture.with { fixture in
            for name in ["1-keep", "2-drop", "stray.tmp"] { try Files.write(name, to: "\(fixture.incoming)/\(name)") }
            func setAside(_ content: String, judged: String, replacement: CompletedFile? = nil) throws {
                let path = fixture.incoming + "/x"
                try Files.write(judged, to: path)
                var info = stat()
                stat(path, &info)
                let name = SetAside(FileMark(info, now: .now()), replacement: replacement).name
                if content != judged { try Files.write(content, to: path) }
                rename(path, "\(fixture.incoming)/\(name)")
            }
            try setAside("the server's", judged: "the server's")
            try setAside("a person's", judged: "the server's too")
            // The host was killed before the exchange, so the replacement has this name.
            let complete = try fixture.complete("complete", name: "3-keep")
            let name = SetAside(mark(inode: 1), replacement: complete).name
            rename(fixture.incoming + "/3-keep", fixture.incoming + "/" + name)

            let rescued = try fixture.tree.sweepIncoming { $0.hasSuffix("keep") }
            #expect(fixture.leftInIncoming == ["1-keep", "3-keep"])
            #expect(try Files.text(fixture.incoming + "/3-keep") == "complete")
            #expect(rescued.count == 1)
            #expect(fixture.content(rescued.first?.text ?? "") == "a person's")
        }
    }

    @Test(
        "A move replaces nothing, takes a modified file along, and renews the mark of a known one",
        arguments: testedFolders)
    func moves(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let copy = fixture.settled(try fixture.place("one", at: "/a"))
            guard
                case .moved(let mark?) = try fixture.tree.move(
                    from: fixture.path("/a"), to: fixture.path("/n/b"), known: copy)
            else {
                Issue.record("not moved")
                return
            }
            #expect(fixture.tree.mark(at: fixture.path("/n/b"))?.matches(mark) == true)
            try Files.write("changed", to: fixture.root + "/n/b")
            try Files.write("mine", to: fixture.root + "/c")
            #expect(
                try fixture.tree.move(from: fixture.path("/n/b"), to: fixture.path("/c"), known: copy)
                    == .obstructed(.file))
            #expect(
                try fixture.tree.move(from: fixture.path("/n/b"), to: fixture.path("/d"), known: copy) == .moved(nil))
            #expect(fixture.content("/d") == "changed" && fixture.content("/c") == "mine")
            try Files.makeFolder(fixture.root + "/empty")
            try Files.write("x", to: fixture.root + "/full/x")
            #expect(try fixture.tree.move(from: fixture.path("/full"), to: fixture.path("/empty")) == .moved(nil))
            #expect(try fixture.tree.move(from: fixture.path("/empty"), to: fixture.path("/empty/x/y")) != .moved(nil))
            #expect(try fixture.tree.move(from: fixture.path("/gone"), to: fixture.path("/z")) == .nothingThere)
            #expect(try fixture.tree.removeFolderIfEmpty(fixture.path("/empty")) == false)
            #expect(try fixture.tree.removeFolderIfEmpty(fixture.path("/n")))
            #expect(try fixture.tree.makeFolder(fixture.path("/p/q")) == .made)
            #expect(try fixture.tree.makeFolder(fixture.path("/p/q")) == .alreadyThere)
        }
    }

    @Test("A mark becomes proof when it is taken again later, unless the file was touched")
    func settling() throws {
        let now = Timestamp.now()
        let clock = TestClock(start: now)
        try TreeFixture.with(clock: { clock.now }) { fixture in
            let copy = try fixture.place("one", at: "/a")
            #expect(!copy.mark.isConclusive(step: FileMark.clockStep))
            clock.advance(.seconds(60))
            #expect(fixture.tree.renewed(copy.mark, at: fixture.path("/a")).isConclusive(step: FileMark.clockStep))
            try Files.write("two", to: fixture.root + "/a")
            #expect(fixture.tree.renewed(copy.mark, at: fixture.path("/a")) == copy.mark)
        }
    }

    @Test(
        "S14: when the disk failed, what had been written or begun by then is not believed, and nothing is left of it")
    func failedSync() throws {
        let code = Atomic<Int32>(0)
        var hooks = TreeHooks()
        hooks.sync = { code.load(ordering: .relaxed) }
        try TreeFixture.with(hooks: hooks) { fixture in
            let begun = try fixture.tree.incomingFile("1-a")
            try Array("begun ".utf8).withUnsafeBytes { try begun.append($0) }
            let whole = try fixture.complete("whole", name: "2-b")
            try Files.write("in parts", to: fixture.incoming + "/3-c")
            try Files.write("a person's", to: fixture.incoming + "/move-7")
            try fixture.tree.syncData()
            #expect(fixture.tree.isBelieved(whole))
            code.store(EIO, ordering: .relaxed)
            #expect(throws: Failure.self) { try fixture.tree.syncData() }
            code.store(0, ordering: .relaxed)
            try fixture.tree.syncData()
            try Array("before".utf8).withUnsafeBytes { try begun.append($0) }
            #expect(try !fixture.tree.isBelieved(whole) && !fixture.tree.isBelieved(begun.finish(modified: nil)))
            #expect(fixture.leftInIncoming == ["move-7"])
            #expect(fixture.tree.isBelieved(try fixture.complete("anew", name: "1-a")))
        }
    }

    @Test("S24: a removal is on the disk before anybody says so; one that may not be is tried again")
    func durableRemoval() throws {
        let code = Atomic<Int32>(0)
        let count = Atomic<Int>(0)
        var hooks = TreeHooks()
        hooks.sync = {
            count.add(1, ordering: .relaxed)
            return code.load(ordering: .relaxed)
        }
        try TreeFixture.with(hooks: hooks) { fixture in
            try fixture.tree.syncRemovals()
            let copy = fixture.settled(try fixture.place("one", at: "/a"))
            try fixture.tree.syncRemovals()
            #expect(count.load(ordering: .relaxed) == 0)
            #expect(try fixture.tree.remove(at: fixture.path("/a"), known: copy) == .removed)
            code.store(EIO, ordering: .relaxed)
            #expect(throws: Failure.self) { try fixture.tree.syncRemovals() }
            code.store(0, ordering: .relaxed)
            for _ in 0..<2 { try fixture.tree.syncRemovals() }
            #expect(count.load(ordering: .relaxed) == 2)
        }
    }

    @Test("A full disk is said, and leaves a beginning of the file", .enabled(if: Build.isRoot, "mounting needs root"))
    func diskFull() async throws {
        try await withTemporaryFolder { folder in
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder])
            defer { umount2(folder, Int32(MNT_DETACH)) }
            let fixture = try TreeFixture.make(in: folder)
            let file = try fixture.tree.incomingFile("1-a")
            let block = [UInt8](repeating: 1, count: 1 << 20)
            let failure = #expect(throws: Failure.self) { try block.withUnsafeBytes { try file.append($0) } }
            #expect(failure?.kind == .localIO && failure?.message.contains("full") == true)
            #expect(file.size <= 65_536 && fixture.tree.incomingSize("1-a") == file.size)
        }
    }
}
