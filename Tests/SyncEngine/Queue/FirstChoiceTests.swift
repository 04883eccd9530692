import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

/// The first choice of each kind of issue.
@Suite struct FirstChoiceTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    @Test(
        "S22: the first choice of each issue loses nothing, is accepted, and is carried out",
        arguments: IssueCode.allCases)
    func carriedOut(_ code: IssueCode) async throws {
        let choice = try #require(code.choices.first)
        #expect(choice.impact == .nonDestructive)
        try await EngineFixture.with { first in
            try await first.addFolder("/d")
            try await first.addFile("/d/f", "theirs")
            let fixture = try await cause(code, first)
            _ = try await fixture.drain()
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == code.rawValue && issue.choices.first == choice)
            try removeCause(code, fixture)
            #expect(try await fixture.engine.resolve(issue.id, choice: choice.id))
            try await fixture.mover.carryOut()
            _ = try await fixture.drain()
            await fixture.engine.removeSpentSnapshots()
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.records().isEmpty)
            #expect(try fixture.outgoing().isEmpty)
            try await expectEnd(of: code, fixture)
            try? fixture.vault.close()
        }
    }

    /// Brings an issue about.
    /// - Returns: The fixture in which it is, which may be the next start's.
    private func cause(_ code: IssueCode, _ fixture: EngineFixture) async throws -> EngineFixture {
        let (file, changing) = (try await fixture.item("/d/f"), fixture.source.changing)
        func fail(_ kind: ConnectionError.Kind, _ status: Int) async throws {
            fixture.source.then(file.path, .fail(.init(kind, "no", status: status)))
            try await fixture.ask(.download, file)
        }
        switch code {
        case .retry: try await fail(.forbidden, 403)
        case .authentication: try await fail(.authentication, 401)
        case .overwrite:
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            try await fixture.change(file, "newer", version: "v2")
            try fixture.write("mine", to: "/d/f")
            try await fixture.ask(.download, file)
        case .place:
            try fixture.write("in the way", to: "/d")
            try await fixture.ask(.download, file)
        case .change:
            changing.then(.refuse(.forbidden))
            try await fixture.change(.move(path("/d/f"), to: path("/g")))
        case .uncertain:
            try await fixture.addFile("/d/g", "another")
            changing.then(.doPart(1))
            try await fixture.change(.copy(path("/d"), to: path("/e")))
            for _ in 0..<15 {
                _ = try await fixture.drain()
                fixture.clock.advance(.seconds(60))
            }
        case .upload:
            changing.then(.refuse(.forbidden))
            try await fixture.put("mine", "/d/n")
        case .conflict:
            fixture.source[try path("/d/n")] = .init(bytes: Array("of others".utf8), version: changing.newVersion())
            try await fixture.put("mine", "/d/n")
        case .deletion:
            fixture.source[try path("/d/new")] = .init(bytes: Array("news".utf8), version: changing.newVersion())
            try await fixture.change(.delete(path("/d")))
        case .pluginDeletions:
            let files = try await fixture.addFiles(40) { ("/d/\($0)", "text") }
            let plugin = DownloadTrigger("org.example.archive")
            try await fixture.database.write { [engine = fixture.engine] tx in
                let hold = try #require(try engine.deletions.holdIfTooMany(files.map(\.localID), by: plugin, in: tx))
                let last = try tx.journal.lastID()
                let issue = try tx.issues.file(hold)
                for file in files {
                    let requester = ChangeRequester(plugin, key: file.path.text, issue: issue.id)
                    _ = try engine.enqueue(.change(.delete(file.path), for: requester), in: tx)
                }
                try engine.deletions.countDeletions(after: last, by: plugin, heldBy: issue.id, in: tx)
            }
        case .address:
            try await fixture.engine.noteAddress("https://one.example (as me)")
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/d/n")
            try await fixture.engine.noteAddress("https://two.example (as me)")
            fixture.engine.setOnline(true)
        case .found:
            try Files.write("mine", to: fixture.folder + "/mine", mode: 0o600)
            _ = try TakenSnapshot.take(
                of: fixture.folder + "/mine", into: fixture.folder + "/vault/outgoing", for: path("/d/n"))
            try await fixture.database.write { try $0.meta.set(.keepsSnapshots, 1) }
            return try EngineFixture(reopening: fixture)
        case .unreadable, .room, .replaced, .contradicted:
            // The issue only tells of something, and nothing waits for the answer.
            let issue = Model.Issue(
                code: code.rawValue, subject: "/d/f", message: "news", choices: code.choices,
                created: fixture.clock.now)
            _ = try await fixture.database.write { try $0.issues.file(issue) }
        }
        return fixture
    }

    /// Ends what would bring the same issue about again.
    private func removeCause(_ code: IssueCode, _ fixture: EngineFixture) throws {
        switch code {
        case .place: Files.remove(fixture.tree.localPath(of: try path("/d")))
        case .uncertain: fixture.source[try path("/e/g")] = fixture.source[try path("/d/g")]
        default: break
        }
    }

    private func expectEnd(of code: IssueCode, _ fixture: EngineFixture) async throws {
        func there(_ place: String) throws -> String? {
            fixture.source[try path(place)].map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        let paths = fixture.source.paths.map(\.text)
        switch code {
        case .retry, .authentication, .place: #expect(try fixture.text("/d/f") == "theirs")
        case .overwrite: #expect(try fixture.text("/d/f") == "mine" && there("/d/f") == "newer")
        case .change: #expect(try there("/g") == "theirs" && paths == ["/g"])
        case .uncertain: #expect(paths == ["/d/f", "/d/g", "/e/f", "/e/g"])
        case .upload, .found: #expect(try there("/d/n") == "mine")
        case .conflict:
            let other = try #require(paths.first { $0.hasPrefix("/d/n (") })
            #expect(try there("/d/n") == "of others" && there(other) == "mine")
        case .deletion:
            #expect(paths == ["/d/f", "/d/new"])
            #expect(try await fixture.listed().contains("/d/f"))
        case .pluginDeletions:
            #expect(paths.count == 41)
            #expect(try await fixture.listed().count == 42)
        case .address: #expect(try fixture.text("/d/n") == "mine" && there("/d/n") == nil)
        case .unreadable, .room, .replaced, .contradicted: #expect(try there("/d/f") == "theirs")
        }
    }
}
