import Database
import Model
import TestSupport
import Testing

@testable import Connection
@testable import SyncEngine

/// What is in a folder that the server is to copy.
@Suite struct CopiedFolderTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    /// Calls `body` offline, with `/b`, in which are `x`, and `s` with `y` and `z`.
    private func withFolder(_ body: (EngineFixture) async throws -> Void) async throws {
        try await EngineFixture.with { fixture in
            for folder in ["/b", "/b/s"] { try await fixture.addFolder(folder) }
            for file in ["/b/x", "/b/s/y", "/b/s/z"] { try await fixture.addFile(file, "text of \(file)") }
            fixture.engine.setOnline(false)
            try await body(fixture)
        }
    }

    /// Has the server make all that was queued, and expects that nobody is asked.
    private func makeAll(_ fixture: EngineFixture) async throws {
        fixture.engine.setOnline(true)
        #expect(try await fixture.drain().leftCount == 0)
        #expect(try await fixture.issues().map(\.message) == [])
    }

    @Test("S7: a copied folder shows at once what it will hold, sizes of new versions too, and so does a copy of it")
    func shown() async throws {
        try await withFolder { fixture in
            try await fixture.put("a new version", "/b/x", replaces: true)
            try await fixture.put("new", "/b/s/new")
            try await fixture.change(.copy(path("/b"), to: path("/e")))
            try await fixture.change(.copy(path("/e"), to: path("/b/s/again")))
            try await fixture.change(.copy(path("/e/x"), to: path("/single")))
            let inside = ["/s", "/s/new", "/s/y", "/s/z", "/x"]
            let copies = (["/e"] + inside.map { "/e" + $0 } + ["/b/s/again"] + inside.map { "/b/s/again" + $0 })
            let listed = try await fixture.listed()
            #expect(listed == (["/b"] + inside.map { "/b" + $0 } + copies + ["/single"]).sorted())
            for file in ["/e/x", "/b/s/again/x", "/single"] { #expect(try await fixture.item(file).size == 13) }
            #expect(try await fixture.item("/b/s/again/s/y").size == 14)
            let ids = try await fixture.database.read { reads in
                try ["/e/x", "/b/s/again/x", "/b/x"].map { try reads.items.item(at: path($0))?.localID }
            }
            #expect(Set(ids).count == 3)
            try await makeAll(fixture)
            #expect(fixture.source[try path("/b/s/again/x")]?.bytes.count == 13)
        }
    }

    @Test("S7: what a copied folder will hold can be changed before the copy is made, and keeps its id")
    func changed() async throws {
        try await withFolder { fixture in
            try await fixture.change(.copy(path("/b"), to: path("/e")))
            let pinned = try await fixture.item("/e/s/y").localID
            try await fixture.change(.delete(path("/b")))
            try await fixture.change(.delete(path("/e/x")))
            try await fixture.change(.move(path("/e/s/y"), to: path("/y")))
            try await fixture.put("mine", "/e/s/z", replaces: true)
            try await fixture.change(.move(path("/e"), to: path("/f")))
            try await fixture.change(.setFavorite(path("/f/s/z"), true))
            try await fixture.change(.copy(path("/f/s"), to: path("/g")))
            try await fixture.change(.delete(path("/f/s/z")))
            #expect(try await fixture.listed() == ["/f", "/f/s", "/g", "/g/z", "/y"])
            try await makeAll(fixture)
            #expect(fixture.source.paths.map(\.text) == ["/g/z", "/y"])
            #expect(fixture.source[try path("/g/z")]?.bytes == Array("mine".utf8))
            let item = try await fixture.item("/y")
            #expect(item.localID == pinned && item.etag == ETag(opaque: "v1", strength: .strong))
            #expect(item.fileID == .substitute(for: try path("/y")))
        }
    }

    @Test("S7: a copy of what waits to be uploaded is one of that version, whatever is uploaded there later")
    func copiedUpload() async throws {
        try await withFolder { fixture in
            try await fixture.change(.createFolder(path("/d")))
            try await fixture.put("first", "/d/f")
            try await fixture.change(.copy(path("/d/f"), to: path("/one")))
            try await fixture.put("the second", "/d/f", replaces: true)
            // Where the folder moves meanwhile, too.
            try await fixture.change(.createFolder(path("/q")))
            try await fixture.change(.move(path("/d"), to: path("/q/d")))
            try await fixture.change(.copy(path("/q"), to: path("/two")))
            try await fixture.put("at last the third", "/q/d/f", replaces: true)
            try await fixture.put("new", "/q/d/g")
            try await fixture.change(.move(path("/q/d"), to: path("/b/d")))
            try await fixture.change(.copy(path("/b/d/g"), to: path("/three")))
            try await fixture.change(.delete(path("/b/d/g")))
            for (file, size) in [("/one", 5), ("/two/d/f", 10), ("/b/d/f", 17), ("/three", 3)] as [(String, Int64)] {
                let item = try await fixture.item(file)
                #expect(try await fixture.database.read { try $0.journal.queued(item).size } == size, "\(file)")
            }
            try await makeAll(fixture)
            for (file, size) in [("/one", 5), ("/two/d/f", 10), ("/b/d/f", 17), ("/three", 3)] {
                #expect(fixture.source[try path(file)]?.bytes.count == size, "\(file)")
            }
            #expect(fixture.source[try path("/b/d/g")] == nil)
        }
    }

    @Test("S7, S18: a queued deletion takes nothing of a copied folder that is not what was to be copied")
    func foreign() async throws {
        try await withFolder { fixture in
            try await fixture.change(.copy(path("/b"), to: path("/e")))
            try await fixture.change(.delete(path("/e/x")))
            // What is copied is not what was listed any more.
            fixture.source[try path("/b/x")] = .init(
                bytes: Array("of somebody else".utf8), version: ETag(opaque: "theirs", strength: .strong))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().left.count == 1)
            #expect(try await fixture.issues().map(\.code) == ["delete.changed"])
            #expect(fixture.source[try path("/e/x")] != nil)
        }
    }

    @Test(
        "S7, S28: a copy that is taken back takes back all that it showed, and nothing else", arguments: [true, false])
    func takenBack(wasRemoved: Bool) async throws {
        try await withFolder { fixture in
            guard case .queued(let copy) = try await fixture.change(.copy(path("/b"), to: path("/e"))) else {
                throw SetupError("not queued")
            }
            try await fixture.change(.copy(path("/e"), to: path("/f")))
            let second = try await fixture.records().last?.id ?? copy
            try await fixture.engine.cancel(second)
            #expect(try await !fixture.listed().contains { $0.hasPrefix("/f") })
            #expect(try await fixture.listed().contains("/e/s/y"))
            if wasRemoved {
                try await fixture.change(.delete(path("/e")))
            } else {
                try await fixture.engine.cancel(copy)
            }
            #expect(try await fixture.listed() == ["/b", "/b/s", "/b/s/y", "/b/s/z", "/b/x"])
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test("S7: a download of what a copied folder will hold waits for the copy, and gets its version")
    func downloaded() async throws {
        try await withFolder { fixture in
            try await fixture.change(.copy(path("/b"), to: path("/e")))
            let item = try await fixture.item("/e/s/y")
            try await fixture.ask(.download, item)
            _ = try await fixture.drain()
            #expect(fixture.source.requests.isEmpty)
            fixture.engine.setOnline(true)
            for _ in 0..<2 { _ = try await fixture.drain() }
            #expect(try fixture.text("/e/s/y") == "text of /b/s/y")
            #expect(try await fixture.now(item).cloudStatus == .localCopy)
            #expect(fixture.source.requests.map(\.path.text) == ["/e/s/y"])
        }
    }
}
