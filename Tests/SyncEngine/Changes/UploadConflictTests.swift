import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Uploads that meet another version on the server.
@Suite struct UploadConflictTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }
    private func text(_ fixture: EngineFixture, _ path: String) throws -> String? {
        fixture.source[try ItemPath(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("S8: a new file where somebody has put one meanwhile becomes an issue with its choices; both are kept")
    func conflictOfNew() async throws {
        try await EngineFixture.with { fixture in
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/f.tar.gz")
            fixture.source[try path("/f.tar.gz")] = .init(
                bytes: Array("theirs".utf8), version: ETag(opaque: "t", strength: .strong))
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f.tar.gz") == "theirs")
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "upload.conflict")
            #expect(issue.choices.map(\.id) == ["keepBoth", "keep", "replace", "cancel"])
            #expect(issue.choices.map(\.impact) == [.nonDestructive, .nonDestructive, .dataLoss, .dataLoss])
            _ = try await fixture.engine.resolve(issue.id, choice: "keepBoth")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f.tar.gz") == "theirs")
            let other = try #require(fixture.source.paths.first { $0.text != "/f.tar.gz" })
            #expect(other.text.hasPrefix("/f.tar (") && other.text.hasSuffix(").gz"))
            #expect(try text(fixture, other.text) == "mine")
            #expect(try fixture.text(other.text) == "mine")
        }
    }

    @Test("S9 S12: a version that somebody has replaced meanwhile is not overwritten; a person may have it replaced")
    func conflictOfVersions() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.put("mine", "/f", replaces: true)
            try await fixture.change(file, "theirs", version: "v2", isListed: false)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "theirs")
            let issue = try #require(try await fixture.issues().first)
            let before = fixture.source.changing.requests.count
            _ = try await fixture.engine.resolve(issue.id, choice: "replace")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f") == "mine" && fixture.text("/f") == "mine")
            #expect(fixture.source.changing.requests.count == before + 1)
        }
    }

    @Test("S12: the answer `replace` is about the uploads of the file behind that one too")
    func replacedByBoth() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.put("mine", "/f", replaces: true)
            try await fixture.change(file, "theirs", version: "v2", isListed: false)
            _ = try await fixture.drain()
            let issue = try #require(try await fixture.issues().first)
            try await fixture.put("newer", "/f", replaces: true)
            _ = try await fixture.engine.resolve(issue.id, choice: "replace")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f") == "newer" && fixture.text("/f") == "newer")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S11: both versions are kept under a name without an extension too, with identities of their own")
    func keepBoth() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/.profile")
            try await fixture.put("mine", "/.profile", replaces: true)
            try await fixture.change(file, "theirs", version: "v2", isListed: false)
            _ = try await fixture.drain()
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "keepBoth")
            #expect(try await fixture.drain().leftCount == 0)
            let other = try #require(fixture.source.paths.first { $0 != file.path })
            #expect(other.text.hasPrefix("/.profile ("))
            let (kept, made) = (try await fixture.now(file), try await fixture.item(other.text))
            #expect(kept.localID != made.localID && kept.syncActivity.isEmpty)
            #expect(try text(fixture, "/.profile") == "theirs" && text(fixture, other.text) == "mine")
        }
    }

    @Test("S11: where both are kept, a copy of the server's version takes the place of the copy here")
    func keepBothHere() async throws {
        try await EngineFixture.with(onConflict: ConflictRules([.init(pattern: "*", answer: .keepBoth)])) { fixture in
            let file = try await fixture.addFile("/f", "before")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            try await fixture.put("mine", "/f", replaces: true)
            try await fixture.change(file, "theirs", version: "v2")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try fixture.text("/f") == "theirs" && fixture.source.paths.count == 2)
            #expect(try await fixture.now(file).remoteVersion == .current)
        }
    }

    @Test(
        "S9 S22: a rule of the account answers a conflict of uploads at its paths, and no person is asked",
        arguments: [("/f", false), ("/f", true), ("/folder/f", true)], ConflictRules.Answer.allCases)
    func rules(_ file: (path: String, isVersion: Bool), _ answer: ConflictRules.Answer) async throws {
        let rules = ConflictRules([
            .init(pattern: "/other/*", answer: .ask), .init(pattern: "/f*", answer: answer),
            .init(pattern: "*", answer: .ask),
        ])
        try await EngineFixture.with(onConflict: rules) { fixture in
            if file.path != "/f" { _ = try await fixture.addFolder("/folder") }
            let theirs = ScriptedSource.File(bytes: Array("theirs".utf8), version: ETag(opaque: "t", strength: .strong))
            if file.isVersion { try await fixture.addFile(file.path) }
            fixture.engine.setOnline(false)
            try await fixture.put("mine", file.path, replaces: file.isVersion)
            fixture.source[try path(file.path)] = theirs
            fixture.engine.setOnline(true)
            let left = try await fixture.drain().leftCount
            let issues = try await fixture.issues().map(\.code)
            #expect(issues == (answer == .ask ? ["upload.conflict"] : []) && left == (answer == .ask ? 1 : 0))
            #expect(try text(fixture, file.path) == (answer == .local ? "mine" : "theirs"))
            let others = fixture.source.paths.filter { $0.text != file.path }
            #expect(others.count == (answer == .keepBoth ? 1 : 0), "\(others)")
            for other in others {
                #expect(try text(fixture, other.text) == "mine" && fixture.text(other.text) == "mine")
            }
            let snapshots = try Files.names(in: fixture.folder + "/vault/outgoing")
            #expect(snapshots.count == (answer == .ask ? 1 : 0))
        }
    }

    @Test("S22: a conflict that later changes build on is a person's, whatever the rules say")
    func rulesBesideLaterChanges() async throws {
        for answer in [ConflictRules.Answer.keepBoth, .server] {
            let rules = ConflictRules([.init(pattern: "*", answer: answer)])
            try await EngineFixture.with(onConflict: rules) { fixture in
                fixture.engine.setOnline(false)
                try await fixture.put("mine", "/f")
                _ = try await fixture.change(.copy(path("/f"), to: path("/g")))
                fixture.source[try path("/f")] = .init(
                    bytes: Array("theirs".utf8), version: ETag(opaque: "t", strength: .strong))
                fixture.engine.setOnline(true)
                _ = try await fixture.drain()
                #expect(try await fixture.issues().map(\.code) == ["upload.conflict"], "\(answer)")
                #expect(try text(fixture, "/f") == "theirs" && fixture.source.paths.count == 1)
                let issue = try #require(try await fixture.issues().first)
                _ = try await fixture.engine.resolve(issue.id, choice: "keepBoth")
                #expect(try await fixture.drain().leftCount == 0)
                // The copy is one of the person's file, wherever that is.
                #expect(try text(fixture, "/f") == "theirs" && text(fixture, "/g") == "mine")
                #expect(try await fixture.issues().isEmpty && fixture.source.paths.count == 3)
            }
        }
    }

    @Test("S11: a long name with a full stop near its beginning has a name beside it too")
    func longExtension() async throws {
        try await EngineFixture.with(onConflict: ConflictRules([.init(pattern: "*", answer: .keepBoth)])) { fixture in
            let name = "/Dr. " + String(repeating: "x", count: 245)
            try await fixture.put("mine", name)
            fixture.source[try path(name)] = .init(
                bytes: Array("theirs".utf8), version: ETag(opaque: "t", strength: .strong))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, name) == "theirs" && fixture.source.paths.count == 2)
        }
    }

    @Test(
        "S9: a new version replaces what the person has: the copy here, what a file was copied from, or what is named")
    func whatThePersonHas() async throws {
        let v1 = ETag(opaque: "v1", strength: .strong)
        for (hasCopy, isExported, named) in [
            (true, false, nil), (false, true, nil), (false, false, "v1"), (true, true, "v2"),
        ] {
            try await EngineFixture.with { fixture in
                let file = try await fixture.addFile("/f", "first")
                if hasCopy {
                    try await fixture.ask(.download, file)
                    _ = try await fixture.drain()
                }
                let mine = try #require(TakenSnapshot.resolvedPath(fixture.folder + "/mine"))
                if isExported {
                    try await fixture.database.write { tx in
                        try tx.exports.note(mine, isCopyOf: file, v1, at: Timestamp(seconds: 1))
                    }
                }
                // A scan has found somebody's version, which the person has not seen.
                try await fixture.change(file, "theirs", version: "v2")
                try Files.write("mine", to: mine, mode: 0o600)
                var snapshot = try TakenSnapshot.take(of: mine, into: fixture.folder + "/vault/outgoing").0
                #expect(snapshot.source == mine)
                snapshot.replacing = named
                try await fixture.change(.put(snapshot, file.path, replaces: named == nil))
                _ = try await fixture.drain()
                let isReplaced = named == "v2"
                let note: Comment = "\(hasCopy) \(isExported) \(named ?? "none")"
                #expect(try text(fixture, "/f") == (isReplaced ? "mine" : "theirs"), note)
                #expect(try await fixture.issues().map(\.code) == (isReplaced ? [] : ["upload.conflict"]), note)
            }
        }
    }

    @Test("S9: a file that was uploaded as a new version has that version, and its next change replaces it unasked")
    func putAgain() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f", "first")
            let mine = try #require(TakenSnapshot.resolvedPath(fixture.folder + "/mine"))
            try await fixture.database.write { tx in
                try tx.exports.note(
                    mine, isCopyOf: file, ETag(opaque: "v1", strength: .strong), at: Timestamp(seconds: 1))
            }
            for text in ["second", "third"] {
                try await fixture.put(text, "/f", replaces: true)
                #expect(try await fixture.drain().leftCount == 0)
                #expect(try self.text(fixture, "/f") == text)
            }
        }
    }
}
