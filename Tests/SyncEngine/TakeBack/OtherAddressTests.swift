import Model
import TestSupport
import Testing

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Changes that were asked for before the account's address changed.
@Suite struct OtherAddressTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    @Test(
        "S51: what was asked for at another address waits in one issue, is taken back or goes on, and none of it is lost",
        arguments: ["keep", "continue", "back"])
    func otherAddress(_ answer: String) async throws {
        try await EngineFixture.with { fixture in
            let engine = fixture.engine
            try await engine.noteAddress("https://one.example (as me)")
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/f", "theirs")
            try await fixture.addFile("/g", "of g")
            // What the server has refused, or is uncertain, waits for another answer.
            fixture.source.changing.then(.refuse(.forbidden))
            try await fixture.change(.move(path("/g"), to: path("/h")))
            _ = try await fixture.drain()
            engine.setOnline(false)
            try await fixture.put("mine", "/d/n")
            try await fixture.put("newer", "/d/f", replaces: true)
            try await fixture.change(.createFolder(path("/k")))
            try await fixture.put("deep", "/k/x")
            try await fixture.change(.move(path("/d"), to: path("/e")))
            let requests = fixture.source.changing.requests
            try await engine.noteAddress("https://two.example (as me)")
            engine.setOnline(true)
            _ = try await fixture.drain()
            #expect(fixture.source.changing.requests == requests)
            let issue = try #require(try await fixture.issues().first)
            #expect(try await fixture.issues().count == 1 && issue.code == "change.address")
            #expect(issue.subject.contains("one.example") && issue.message.contains("6 changes"))
            #expect(issue.choices.allSatisfy { $0.impact == .nonDestructive })
            // No single record goes on before the answer, and what is asked for now is made.
            let first = try #require(try await fixture.records().first)
            await #expect(throws: Failure.self) { try await engine.retry(first.id) }
            try await fixture.change(.createFolder(path("/now")))
            _ = try await fixture.drain()
            #expect(fixture.source.changing.requests == requests + ["MKCOL /now"])
            if answer == "back" {
                engine.setOnline(false)
                try await fixture.change(.createFolder(path("/late")))
                try await engine.noteAddress("https://one.example (as me)")
                engine.setOnline(true)
                _ = try await fixture.drain()
                let issues = try await fixture.issues()
                #expect(issues.map(\.subject) == ["https://two.example (as me)"])
                _ = try await engine.resolve(try #require(issues.first).id, choice: "keep")
            } else {
                _ = try await engine.resolve(issue.id, choice: answer)
            }
            try await fixture.mover.carryOut()
            _ = try await fixture.drain()
            #expect(try await fixture.records().isEmpty && fixture.outgoing().isEmpty)
            #expect(try await fixture.issues().isEmpty)
            let there = fixture.source.paths.map(\.text)
            guard answer == "keep" else {
                #expect(there == ["/e/f", "/e/n", "/h", "/k/x"])
                #expect(!fixture.source.changing.has(folder: try path("/late")))
                return
            }
            #expect(there == ["/d/f", "/g"])
            let listed = try await fixture.listed()
            let beside = try #require(listed.first { $0.hasPrefix("/d/f (") })
            #expect(listed == ["/d", "/d/f", beside, "/d/n", "/g", "/k", "/k/x", "/now"].sorted())
            #expect(
                try fixture.text("/d/n") == "mine" && fixture.text(beside) == "newer" && fixture.text("/k/x") == "deep")
        }
    }
}
