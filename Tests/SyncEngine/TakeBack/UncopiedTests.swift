import Model
import TestSupport
import Testing

@testable import Connection
@testable import Database
@testable import SyncEngine

/// What becomes of the only content when the copy of it is not made that was queued before its deletion.
@Suite struct UncopiedTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    @Test(
        "S51 S49: a copy that is taken back takes the deletion of what it was to copy with it, wherever that is by then",
        arguments: ["/D", "/D/f", "/P", "/moved"])
    func deletion(_ deleted: String) async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/P")
            let source = deleted == "/P" ? "/P/D" : "/D"
            try await fixture.addFolder(source)
            try await fixture.addFile("\(source)/f", "the only one")
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.copy(path(source), to: path("/copy")))
            _ = try await fixture.drain()
            if deleted == "/moved" { try await fixture.change(.move(path(source), to: path("/moved"))) }
            try await fixture.change(.delete(path(deleted)))
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.issues().isEmpty)
            let end = deleted == "/moved" ? "/moved/f" : "\(source)/f"
            #expect(fixture.source.paths.map(\.text) == [end])
            #expect(try await fixture.listed().contains(end))
        }
    }

    @Test("S7: what is copied, then deleted together with its copy, is gone", arguments: [true, false])
    func both(_ isNew: Bool) async throws {
        try await EngineFixture.with { fixture in
            if !isNew { try await fixture.addFile("/f", "before") }
            fixture.engine.setOnline(false)
            if isNew { try await fixture.put("mine", "/f") }
            try await fixture.change(.copy(path("/f"), to: path("/copy")))
            try await fixture.change(.delete(path("/f")))
            try await fixture.change(.delete(path("/copy")))
            #expect(try await fixture.listed() == [])
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.paths.isEmpty)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed() == [])
        }
    }

    @Test("S51 S49: a new version of what was to be copied before does not replace it when the copy is taken back")
    func version() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFile("/f", "before")
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.copy(path("/f"), to: path("/kept")))
            _ = try await fixture.drain()
            try await fixture.put("after", "/f", replaces: true)
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source[try path("/f")].map { String(decoding: $0.bytes, as: UTF8.self) } == "before")
            // The file that was to be uploaded is kept here, beside it.
            let kept = try #require(try await fixture.listed().first { $0.hasPrefix("/f (") })
            #expect(try fixture.text(kept) == "after")
            #expect(try await fixture.item("/f").syncActivity.isEmpty)
        }
    }
}
