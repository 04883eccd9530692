import LocalTree
import Model
import Synchronization
import TestSupport
import Testing

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Changes whose answer says that they are made, or are not, while the server shows otherwise or shows nothing.
@Suite struct DoubtfulAnswerTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }
    private func text(_ fixture: EngineFixture, _ path: String) throws -> String? {
        fixture.source[try ItemPath(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func write(_ fixture: EngineFixture, _ path: String, _ text: String) throws {
        fixture.source[try ItemPath(path)] = .init(
            bytes: Array(text.utf8), version: fixture.source.changing.newVersion())
    }

    /// A server with the folder `/A`, in which is a file, and the file `/one`.
    private func withTree(_ body: (EngineFixture) async throws -> Void) async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/A")
            try await fixture.addFile("/A/f", "in A")
            try await fixture.addFile("/one", "one")
            try await body(fixture)
        }
    }

    /// Drains again and again, each time after some minutes.
    private func wait(_ fixture: EngineFixture, minutes: Int) async throws {
        for _ in 0..<minutes {
            _ = try await fixture.drain()
            fixture.clock.advance(.seconds(60))
        }
        _ = try await fixture.drain()
    }

    @Test(
        "S50: what came to the target before a copy or move is seen before anything is sent", arguments: [true, false])
    func targetTaken(_ isCopy: Bool) async throws {
        try await withTree { fixture in
            for (from, to) in [("/one", "/two"), ("/A", "/B")] {
                try write(fixture, to, "theirs")
                try await fixture.change(
                    isCopy ? .copy(path(from), to: path(to)) : .move(path(from), to: path(to)))
            }
            _ = try await fixture.drain()
            // Some servers do not heed the condition that nothing be replaced.
            #expect(fixture.source.changing.requests.isEmpty)
            #expect(try await fixture.issues().count == 2)
            #expect(try text(fixture, "/two") == "theirs" && text(fixture, "/one") == "one")
        }
    }

    @Test("S49: a copy of a file that the server says it has made counts when all of it shows")
    func claimedFile() async throws {
        try await withTree { fixture in
            let target = try path("/two")
            fixture.source.changing.then(
                .claimThen { [source = fixture.source] in
                    source[target] = .init(bytes: [1], version: ETag(opaque: "part", strength: .strong))
                })
            try await fixture.change(.copy(path("/one"), to: target))
            try await fixture.change(.delete(path("/one")))
            try await wait(fixture, minutes: 4)
            #expect(fixture.source.changing.requests == ["COPY /one /two"])
            #expect(try text(fixture, "/one") == "one")
            try write(fixture, "/two", "one")
            try await wait(fixture, minutes: 4)
            #expect(try text(fixture, "/one") == nil && text(fixture, "/two") == "one")
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test(
        "S49 S50: of a folder that the server says it has copied or moved, all must show before anything behind it goes on",
        arguments: [true, false], [true, false])
    func claimedInPart(_ isCopy: Bool, _ comes: Bool) async throws {
        try await withTree { fixture in
            try await fixture.addFile("/A/g", "more in A")
            fixture.source.changing.then(.claimPart(1))
            if isCopy {
                try await fixture.change(.copy(path("/A"), to: path("/B")))
                try await fixture.change(.delete(path("/A")))
            } else {
                try await fixture.change(.move(path("/A"), to: path("/B")))
                try await fixture.change(.move(path("/B"), to: path("/C")))
            }
            try await wait(fixture, minutes: 4)
            #expect(fixture.source.changing.requests.count == 1)
            #expect(try text(fixture, "/A/g") == "more in A")
            #expect(try await fixture.issues().isEmpty)
            if comes {
                try write(fixture, "/B/g", "more in A")
                // Somebody else writes beside it, which says nothing of the copy.
                if isCopy { try write(fixture, "/B/theirs", "theirs") }
                if !isCopy {
                    fixture.source[try path("/A/g")] = nil
                    let folder = try path("/A")
                    fixture.source.changing.state.withLock { _ = $0.folders.remove(folder) }
                }
            }
            try await wait(fixture, minutes: 20)
            let place = isCopy ? "/B" : "/C"
            if comes {
                #expect(try text(fixture, "\(place)/f") == "in A" && text(fixture, "\(place)/g") == "more in A")
                #expect(try await fixture.records().isEmpty)
                #expect(try await fixture.issues().isEmpty)
                #expect(!fixture.source.changing.has(folder: try path("/A")))
            } else {
                let issues = try await fixture.issues()
                #expect(issues.map(\.code) == ["change.uncertain"])
                #expect(issues.first?.message.contains("what is at /B is not what is to be there") == true)
                #expect(try text(fixture, "/A/g") == "more in A" && fixture.source.changing.requests.count == 1)
            }
        }
    }

    @Test("S49: an answer that does not tell of the mark as a favorite is checked by what the server shows")
    func favorites() async throws {
        try await withTree { fixture in
            fixture.source.changing.then(.page(isDone: false), .page(isDone: true))
            try await fixture.change(.setFavorite(path("/one"), true))
            _ = try await fixture.drain()
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "change.refused" && issue.message.contains("does not show it"))
            _ = try await fixture.engine.resolve(issue.id, choice: "retry")
            _ = try await fixture.drain()
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.item("/one").isFavorite)
        }
    }

    @Test(
        "S49: what the server says it has made, and does not show, is waited for, and nothing behind it goes ahead",
        arguments: [true, false], [true, false])
    func claimed(_ isFolder: Bool, _ comes: Bool) async throws {
        try await withTree { fixture in
            let (from, to) = isFolder ? ("/A", "/B") : ("/one", "/two")
            fixture.source.changing.then(.claim)
            try await fixture.change(.copy(path(from), to: path(to)))
            try await fixture.change(.delete(path(from)))
            try await wait(fixture, minutes: 4)
            #expect(fixture.source.changing.requests.count == 1)
            #expect(try text(fixture, "/A/f") == "in A" && text(fixture, "/one") == "one")
            #expect(try await fixture.issues().isEmpty)
            if comes {
                if isFolder { fixture.source.changing.addFolder(try path("/B")) }
                try write(fixture, isFolder ? "/B/f" : "/two", isFolder ? "in A" : "one")
            }
            try await wait(fixture, minutes: 20)
            if !comes {
                #expect(try await fixture.issues().map(\.code) == ["change.uncertain"])
                #expect(try text(fixture, "/A/f") == "in A" && text(fixture, "/one") == "one")
                _ = try await fixture.engine.resolve(try #require(fixture.issues().first).id, choice: "retry")
                try await wait(fixture, minutes: 3)
            }
            #expect(try text(fixture, isFolder ? "/B/f" : "/two") == (isFolder ? "in A" : "one"))
            #expect(try text(fixture, isFolder ? "/A/f" : "/one") == nil)
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test(
        "S40: a file that others have changed just before is moved and copied as it is then", arguments: [true, false])
    func changedBefore(_ isMove: Bool) async throws {
        try await withTree { fixture in
            try write(fixture, "/one", "another length by now")
            let (from, to) = (try path("/one"), try path("/two"))
            try await fixture.change(isMove ? .move(from, to: to) : .copy(from, to: to))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/two") == "another length by now")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S49: a folder that the server says it has made, and does not show, does not count as made")
    func claimedFolder() async throws {
        try await withTree { fixture in
            fixture.source.changing.then(.claim)
            try await fixture.change(.createFolder(path("/new")))
            try await wait(fixture, minutes: 2)
            #expect(fixture.source.changing.has(folder: try path("/new")))
            #expect(fixture.source.changing.requests == ["MKCOL /new", "MKCOL /new"])
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test(
        "S49: where the question after a doubtful answer fails too, the change stays one that may have been made",
        arguments: [true, false])
    func questionFails(_ isMove: Bool) async throws {
        try await withTree { fixture in
            let (from, to) = (try path("/one"), try path("/two"))
            // The request is answered with a page, and what is asked then is not answered.
            fixture.source.changing.then(.pageThenSilence(questions: 1))
            try await fixture.change(isMove ? .move(from, to: to) : .copy(from, to: to))
            try await wait(fixture, minutes: 2)
            #expect(fixture.source.changing.requests.count == 1)
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
            #expect(try text(fixture, "/two") == "one")
        }
    }

    @Test("S49: questions that the server does not answer are no refusal of the change, for minutes")
    func questionsRefused() async throws {
        for kind in [ConnectionError.Kind.forbidden, .serverError, .protocolViolation] {
            try await withTree { fixture in
                let questions = kind == .protocolViolation ? 4 : 8
                fixture.source.changing.state.withLock { $0.lackOfAnswer = ConnectionError(kind, "no", status: 500) }
                fixture.source.changing.then(.pageThenSilence(questions: questions))
                try await fixture.change(.move(path("/A"), to: path("/B")))
                _ = try await fixture.drain()
                try await wait(fixture, minutes: 6)
                #expect(try await fixture.issues().isEmpty, "\(kind)")
                try await wait(fixture, minutes: 10)
                #expect(try await fixture.records().isEmpty, "\(kind)")
                #expect(fixture.source.changing.requests.count == 1)
            }
        }
    }

    @Test(
        "S50: what others put at the target after a refusal that passes stays, and the request is not sent over it",
        arguments: [true, false])
    func afterLock(_ isMove: Bool) async throws {
        try await withTree { fixture in
            let (from, to) = (try path("/one"), try path("/two"))
            fixture.source.changing.then(.refuse(.locked(owner: nil)))
            try await fixture.change(isMove ? .move(from, to: to) : .copy(from, to: to))
            _ = try await fixture.drain()
            try write(fixture, "/two", "of somebody else")
            try await wait(fixture, minutes: 3)
            #expect(fixture.source.changing.requests.count == 1)
            #expect(try text(fixture, "/two") == "of somebody else" && text(fixture, "/one") == "one")
            #expect(try await fixture.issues().map(\.code) == ["change.refused"])
        }
    }

    @Test("S49: a copy of a folder in which is what no listing shows is not taken for made by equal files")
    func unlisted() async throws {
        try await withTree { fixture in
            fixture.source.changing.addFolder(try path("/A/cal"))
            fixture.source.changing.state.withLock { $0.calendars = [ItemPath(unchecked: "/A/cal")] }
            fixture.source.changing.then(
                .loseRequestThen { [source = fixture.source] in
                    source.changing.addFolder(ItemPath(unchecked: "/B"))
                    source[ItemPath(unchecked: "/B/f")] = source[ItemPath(unchecked: "/A/f")]
                })
            try await fixture.change(.copy(path("/A"), to: path("/B")))
            try await wait(fixture, minutes: 3)
            #expect(try await fixture.records().count == 1)
            try await wait(fixture, minutes: 20)
            #expect(try await fixture.issues().map(\.code) == ["change.uncertain"])
        }
    }

    @Test("S35: a new version that the server shows later is waited for, though the version before has its size")
    func lateVersion() async throws {
        for tells in [true, false] {
            try await withTree { fixture in
                fixture.source.changing.state.withLock { $0.givesETagsOnPut = tells }
                fixture.source.changing.then(.claim)
                try await fixture.put("two", "/one", replaces: true)
                try await wait(fixture, minutes: 3)
                #expect(try await fixture.issues().isEmpty && fixture.outgoing().count == 1)
                try write(fixture, "/one", "two")
                try await wait(fixture, minutes: 4)
                #expect(try await fixture.records().isEmpty)
                #expect(fixture.source.changing.requests == ["PUT /one"])
            }
        }
    }

    @Test("S9: a file that was copied from an older version replaces that one alone, also in place of a waiting upload")
    func exportedBefore() async throws {
        try await withTree { fixture in
            let file = try await fixture.addFile("/f", "zero", version: "v0")
            let mine = try #require(TakenSnapshot.resolvedPath(fixture.folder + "/mine"))
            try await fixture.database.write { tx in
                try tx.exports.note(
                    mine, isCopyOf: file, ETag(opaque: "v0", strength: .strong), at: Timestamp(seconds: 1))
            }
            try await fixture.change(file, "theirs", version: "v1")
            fixture.engine.setOnline(false)
            // Another file of the person's follows what was listed, and this one what it was copied from.
            try Files.write("other", to: fixture.folder + "/other", mode: 0o600)
            let other = try TakenSnapshot.take(
                of: fixture.folder + "/other", into: fixture.folder + "/vault/outgoing"
            ).0
            try await fixture.change(.put(other, file.path, replaces: true))
            try await fixture.put("mine", "/f", replaces: true)
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "theirs")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
        }
    }

    @Test("S9: a new version follows the last copy that was here, though it was freed before another was listed")
    func copiedBefore() async throws {
        try await withTree { fixture in
            let file = try await fixture.addFile("/f", "one")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            // The person takes a copy elsewhere. Then the outdated one goes from here.
            try await fixture.change(file, "theirs", version: "v2")
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), file)
            _ = try await fixture.drain()
            #expect(try fixture.text("/f") == nil)
            try await fixture.put("mine", "/f", replaces: true)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "theirs")
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "upload.conflict")
            _ = try await fixture.engine.resolve(issue.id, choice: "replace")
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "mine")
            // What this account has put there itself needs no question, also where no copy is here any more.
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), fixture.item("/f"))
            _ = try await fixture.drain()
            try await fixture.put("again", "/f", replaces: true)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "again")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S9: a file that was copied from a path does not replace what somebody else has put there since")
    func exportedFromPath() async throws {
        try await withTree { fixture in
            let file = try await fixture.addFile("/f", "one")
            let mine = try #require(TakenSnapshot.resolvedPath(fixture.folder + "/mine"))
            try await fixture.database.write { tx in
                try tx.exports.note(
                    mine, isCopyOf: file, ETag(opaque: "v1", strength: .strong), at: Timestamp(seconds: 1))
            }
            try await fixture.change(.move(path("/f"), to: path("/g")))
            _ = try await fixture.drain()
            try await fixture.addFile("/f", "theirs", version: "v9")
            try await fixture.put("mine", "/f", replaces: true)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "theirs" && text(fixture, "/g") == "one")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
            try await fixture.put("mine", "/g", replaces: true)
            _ = try await fixture.drain()
            #expect(try text(fixture, "/g") == "mine")
        }
    }

    @Test("S49: a server that calls what was made by another name than was asked for is soon an issue")
    func otherName() async throws {
        try await withTree { fixture in
            let error = ConnectionError(.protocolViolation, "the answer names /new, which was not requested")
            fixture.source.changing.state.withLock { $0.lackOfAnswer = error }
            fixture.source.changing.then(.pageThenSilence(questions: 1_000))
            try await fixture.put("mine", "/new ")
            try await wait(fixture, minutes: 3)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.message.contains("names /new,") && issue.choices.first?.impact == .nonDestructive)
            #expect(fixture.source.changing.requests.count == 1)
            _ = try await fixture.engine.resolve(issue.id, choice: "keep")
            #expect(try fixture.text("/new ") == "mine")
        }
    }
}
