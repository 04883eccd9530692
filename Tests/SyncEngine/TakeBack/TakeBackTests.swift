import Model
import TestSupport
import Testing

@testable import Connection
@testable import Database
@testable import SyncEngine

/// What becomes of the changes that were queued behind one that is taken back.
@Suite struct TakeBackTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }
    private func text(_ fixture: EngineFixture, _ path: String) throws -> String? {
        fixture.source[try ItemPath(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Answers the only issue.
    private func answer(_ fixture: EngineFixture, _ choice: String) async throws {
        let issue = try #require(try await fixture.issues().first)
        _ = try await fixture.engine.resolve(issue.id, choice: choice)
        try await fixture.mover.carryOut()
        fixture.engine.setOnline(true)
    }

    @Test("S51: behind a move that is taken back, everything goes on where the items are then")
    func move() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/D")
            try await fixture.addFile("/D/old")
            let other = try await fixture.addFile("/D/other")
            try await fixture.ask(.download, other)
            _ = try await fixture.drain()
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.move(try path("/D"), to: try path("/E")))
            _ = try await fixture.drain()
            fixture.engine.setOnline(false)
            try await fixture.put("new", "/E/new")
            try await fixture.change(.createFolder(try path("/E/sub")))
            try await fixture.put("deep", "/E/sub/deep")
            try await fixture.change(.delete(try path("/E/old")))
            try await fixture.change(.move(try path("/E/other"), to: try path("/out")))
            // Something else has come to the place meanwhile.
            try await fixture.change(.createFolder(try path("/D")))
            try await fixture.put("mine", "/D/mine")
            try await answer(fixture, "cancel")
            let listed = try await fixture.listed()
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed() == listed)
            let beside = try #require(listed.first { $0.hasPrefix("/D (") })
            #expect(
                fixture.source.paths.map(\.text) == ["\(beside)/mine", "/D/new", "/D/sub/deep", "/out"])
            #expect(try text(fixture, "/D/sub/deep") == "deep" && fixture.text("/out") == "content")
        }
    }

    @Test("S51: a move that is taken back brings the item back that was to be deleted behind it")
    func moveThenDelete() async throws {
        for deleted in ["/E", "/P", "/P/E"] {
            try await EngineFixture.with { fixture in
                try await fixture.addFolder("/D")
                try await fixture.addFile("/D/f")
                try await fixture.addFolder("/P")
                try await fixture.addFile("/P/g")
                fixture.source.changing.then(.refuse(.forbidden))
                let target = deleted == "/E" ? "/E" : "/P/E"
                try await fixture.change(.move(try path("/D"), to: try path(target)))
                _ = try await fixture.drain()
                try await fixture.change(.delete(try path(deleted)))
                try await answer(fixture, "cancel")
                #expect(try await fixture.drain().leftCount == 0)
                #expect(try await fixture.issues().isEmpty)
                let left = deleted == "/P" ? ["/D/f"] : ["/D/f", "/P/g"]
                #expect(fixture.source.paths.map(\.text) == left, "\(deleted)")
                #expect(try await fixture.listed().contains("/D/f"))
            }
        }
    }

    @Test(
        "S51: what was to be uploaded into a folder that is not made stays here; what was moved there is where it was")
    func folder() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.createFolder(try path("/P")))
            _ = try await fixture.drain()
            try await fixture.put("x", "/P/x")
            try await fixture.change(.createFolder(try path("/P/sub")))
            try await fixture.put("y", "/P/sub/y")
            try await fixture.change(.move(file.path, to: try path("/P/f")))
            try await fixture.change(.setFavorite(try path("/P/f"), true))
            try await fixture.change(.copy(try path("/P/sub"), to: try path("/Q")))
            try await answer(fixture, "cancel")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed() == ["/P", "/P/sub", "/P/sub/y", "/P/x", "/f"])
            #expect(try fixture.text("/P/x") == "x" && fixture.text("/P/sub/y") == "y")
            for kept in ["/P", "/P/x", "/P/sub/y"] {
                #expect(try await fixture.item(kept).cloudStatus == .localOnly)
            }
            #expect(fixture.source.changing.requests == ["MKCOL /P", "PROPPATCH /f true"])
            #expect(try fixture.outgoing().isEmpty && fixture.engine.progress.filesTotal == 0)
        }
    }

    @Test("S51: a deletion that is taken back keeps what was put in its place since, beside it")
    func deletion() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "base")
            try await fixture.change(.delete(file.path))
            try await fixture.change(file, "changed", version: "v2", isListed: false)
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/f")
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            try await answer(fixture, "cancel")
            #expect(try await fixture.drain().leftCount == 0)
            let beside = try #require(fixture.source.paths.first { $0 != file.path })
            #expect(beside.text.hasPrefix("/f (") && fixture.source.paths.count == 2)
            #expect(try text(fixture, "/f") == "changed" && text(fixture, beside.text) == "mine")
            #expect(try await fixture.listed() == [beside.text, "/f"].sorted())
        }
    }

    @Test("S51: a file that the server refuses for good stays here, and what was queued behind it goes on or goes")
    func refusedUpload() async throws {
        for behind in ["nothing", "put", "mv"] {
            try await EngineFixture.with { fixture in
                fixture.source.changing.then(.refuse(.forbidden))
                try await fixture.put("mine", "/g")
                _ = try await fixture.drain()
                if behind == "put" { try await fixture.put("newer", "/g", replaces: true) }
                if behind == "mv" { try await fixture.change(.move(try path("/g"), to: try path("/h"))) }
                try await answer(fixture, "keep")
                #expect(try await fixture.drain().leftCount == 0)
                #expect(try await fixture.issues().isEmpty && fixture.outgoing().isEmpty)
                let listed = try await fixture.listed()
                let kept = try #require(listed.first { $0 != "/g" } ?? listed.first)
                #expect(try fixture.text(kept) == "mine" && listed.count == (behind == "put" ? 2 : 1), "\(behind)")
                #expect(try await fixture.item(kept).cloudStatus == .localOnly)
                #expect(try text(fixture, "/g") == (behind == "put" ? "newer" : nil))
                if behind == "mv" { #expect(kept == "/h") }
            }
        }
    }

    @Test("S11 S51: both versions are kept at the new place when a move or a newer file was queued behind a conflict")
    func conflictBehindMove() async throws {
        for isNew in [true, false] {
            try await EngineFixture.with { fixture in
                try await fixture.addFolder("/D")
                if !isNew { try await fixture.addFile("/D/f") }
                fixture.engine.setOnline(false)
                try await fixture.put("mine", "/D/f", replaces: !isNew)
                fixture.source[try path("/D/f")] = .init(
                    bytes: Array("theirs".utf8), version: ETag(opaque: "t", strength: .strong))
                fixture.engine.setOnline(true)
                _ = try await fixture.drain()
                fixture.engine.setOnline(false)
                if isNew { try await fixture.put("newer", "/D/f", replaces: true) }
                try await fixture.change(.move(try path("/D"), to: try path("/E")))
                try await answer(fixture, "keepBoth")
                #expect(try await fixture.drain().leftCount == 0)
                #expect(try await fixture.issues().isEmpty)
                #expect(try text(fixture, "/E/f") == "theirs" && fixture.source.paths.count == 2)
                let beside = try #require(fixture.source.paths.first { $0.text.hasPrefix("/E/f (") })
                #expect(try text(fixture, beside.text) == (isNew ? "newer" : "mine"))
            }
        }
    }

    @Test("S28: a file that is uploaded in place of a copy that was taken back shows no copying any more")
    func uploadInPlaceOfCopy() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFile("/z", "of z")
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.copy(ItemPath("/z"), to: ItemPath("/c")))
            _ = try await fixture.drain()
            try await fixture.put("mine", "/c", replaces: true)
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
            _ = try await fixture.drain()
            #expect(try await fixture.item("/c").syncActivity == [])
            #expect(fixture.source[try ItemPath("/c")]?.bytes == Array("mine".utf8))
        }
    }
}
