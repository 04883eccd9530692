import Glibc
import Model
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

/// Tests of moves that go through `incoming/`.
@Suite struct StagingTests {
    private let move = TreeMoveID(7)

    @Test("A folder that cannot be opened is not taken for one that is missing, neither on the way out nor back")
    func unreadable() throws {
        try TreeFixture.with { fixture in
            try Files.write("mine", to: fixture.root + "/a")
            // The invalid folder descriptor simulates a failing disk.
            let failing = Tree(
                root: fixture.root, folder: OpenFolder(Descriptor(-1)), staging: fixture.tree.staging,
                reservesDotLarder: false, clock: { .now() })
            #expect(throws: Failure.self) { try failing.stage(fixture.path("/a"), for: move) }
            try fixture.tree.stage(fixture.path("/a"), for: move)
            #expect(throws: Failure.self) { try failing.unstage(move, to: fixture.path("/a")) }
            #expect(fixture.leftInIncoming == ["move-7"])
            try fixture.tree.unstage(move, to: fixture.path("/a"))
            #expect(fixture.content("/a") == "mine")
        }
    }

    @Test("What cannot go back since a file lies where its folder was is put as near to it as it can be")
    func displacedFolder() throws {
        try TreeFixture.with { fixture in
            try Files.write("mine", to: fixture.root + "/a/b/c")
            try fixture.tree.stage(fixture.path("/a/b/c"), for: move)
            Files.remove(fixture.root + "/a")
            try Files.write("another", to: fixture.root + "/a")
            try fixture.tree.unstage(move, to: fixture.path("/a/b/c"))
            #expect(fixture.content("/c") == "mine" && fixture.content("/a") == "another")
            #expect(fixture.leftInIncoming.isEmpty)
        }
    }

    @Test("A name that the file system does not take obstructs a move that waits, as it does any other")
    func longName() throws {
        try TreeFixture.with { fixture in
            let target = fixture.path("/" + String(repeating: "x", count: 300))
            try Files.write("mine", to: fixture.root + "/a")
            #expect(try fixture.tree.move(from: fixture.path("/a"), to: target) == .obstructed(.name))
            try fixture.tree.stage(fixture.path("/a"), for: move)
            #expect(try fixture.tree.moveStaged(move, to: target) == .obstructed(.name))
            #expect(fixture.leftInIncoming == ["move-7"])
        }
    }
}
