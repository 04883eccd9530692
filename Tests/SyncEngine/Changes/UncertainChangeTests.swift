import LocalTree
import Model
import Synchronization
import TestSupport
import Testing

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Changes whose answer is lost, is another's, or comes after a part was done, while others may write.
@Suite struct UncertainChangeTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }
    private func text(_ fixture: EngineFixture, _ path: String) throws -> String? {
        fixture.source[try ItemPath(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func write(_ fixture: EngineFixture, _ path: String, _ text: String) throws {
        fixture.source[try ItemPath(path)] = .init(
            bytes: Array(text.utf8), version: fixture.source.changing.newVersion())
    }

    /// A server with `/A`, in which are three files and a folder with one.
    private func withTree(
        onConflict: ConflictRules = ConflictRules(), _ body: (EngineFixture) async throws -> Void
    ) async throws {
        try await EngineFixture.with(onConflict: onConflict) { fixture in
            try await fixture.addFolder("/A")
            try await fixture.addFolder("/A/sub")
            for name in ["/A/f0", "/A/f1", "/A/f2", "/A/sub/f3"] { try await fixture.addFile(name, "of \(name)") }
            try await body(fixture)
        }
    }

    private let all = ["/A/f0", "/A/f1", "/A/f2", "/A/sub/f3"]
    private let copies = ["/B/f0", "/B/f1", "/B/f2", "/B/sub/f3"]

    /// Drains again and again, each time after some minutes.
    private func wait(_ fixture: EngineFixture, minutes: Int = 20) async throws {
        for _ in 0..<minutes {
            _ = try await fixture.drain()
            fixture.clock.advance(.seconds(60))
        }
        _ = try await fixture.drain()
    }

    private func files(_ fixture: EngineFixture) -> [String] { fixture.source.paths.map(\.text) }

    @Test(
        "S49 S40: a copy or move of which a part was made is not taken for made, and nothing behind it touches the rest",
        arguments: [0, 1, 3], [true, false])
    func part(_ count: Int, _ isCopy: Bool) async throws {
        try await withTree { fixture in
            fixture.source.changing.then(.doPart(count))
            let (a, b) = (try path("/A"), try path("/B"))
            try await fixture.change(isCopy ? .copy(a, to: b) : .move(a, to: b))
            // What a person asks for next must not take what is not at the target.
            if isCopy { try await fixture.change(.delete(a)) }
            try await wait(fixture)
            for name in all {
                let copy = name.replacing("/A", with: "/B")
                #expect(try text(fixture, name) == "of \(name)" || text(fixture, copy) == "of \(name)")
            }
            if isCopy { #expect(all.allSatisfy { files(fixture).contains($0) }) }
            #expect(try await fixture.issues().map(\.code) == ["change.uncertain"])
            // The server makes the rest after all: it is found, and what waits goes on.
            for name in all where isCopy || files(fixture).contains(name) {
                let copy = try path(name.replacing("/A", with: "/B"))
                if fixture.source[copy] == nil { fixture.source[copy] = fixture.source[try path(name)] }
                if !isCopy { fixture.source[try path(name)] = nil }
            }
            if !isCopy {
                fixture.source.changing.state.withLock { $0.folders = $0.folders.filter { !$0.text.hasPrefix("/A") } }
            }
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "retry")
            try await wait(fixture, minutes: 3)
            #expect(files(fixture) == copies)
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S49: a copy that goes on in the background after its answer was lost is waited for, however long it takes")
    func background() async throws {
        try await withTree { fixture in
            fixture.source.changing.then(.doPart(1))
            try await fixture.change(.copy(path("/A"), to: path("/B")))
            try await fixture.change(.delete(path("/A")))
            for name in ["f1", "f2", "sub/f3"] {
                try await wait(fixture, minutes: 8)
                #expect(all.allSatisfy { files(fixture).contains($0) })
                #expect(try await fixture.issues().isEmpty)
                fixture.source[try path("/B/\(name)")] = fixture.source[try path("/A/\(name)")]
            }
            try await wait(fixture, minutes: 8)
            #expect(files(fixture) == copies)
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test(
        "S49 S50: after a lost answer equal names and sizes are no proof: contents are compared, and a stranger's stay")
    func sameSizes() async throws {
        try await withTree { fixture in
            // The copy never ran. Somebody has put files of equal sizes there meanwhile.
            fixture.source.changing.then(.loseRequest)
            try await fixture.change(.copy(path("/A"), to: path("/B")))
            try await fixture.change(.delete(path("/A")))
            fixture.source.changing.addFolder(try path("/B"))
            fixture.source.changing.addFolder(try path("/B/sub"))
            for (name, copy) in zip(all, copies) {
                try write(fixture, copy, String(repeating: "x", count: "of \(name)".utf8.count))
            }
            try await wait(fixture)
            #expect(all.allSatisfy { files(fixture).contains($0) })
            #expect(try text(fixture, "/B/f0") == "xxxxxxxx")
            #expect(try await !fixture.issues().isEmpty)
        }
    }

    @Test("S49: a copy that is whole, whose answer was lost, is found by its contents and not sent again")
    func whole() async throws {
        try await withTree { fixture in
            try await fixture.addFile("/one", "1")
            fixture.source.changing.then(.loseAnswer, .loseAnswer)
            try await fixture.change(.copy(path("/A"), to: path("/B")))
            _ = try await fixture.drain()
            try await fixture.change(.copy(path("/one"), to: path("/two")))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["COPY /A /B", "COPY /one /two"])
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S50 S49: a copy that is whole, with somebody's file in it, is a person's if its answer was lost")
    func wholeAndMore() async throws {
        try await withTree { fixture in
            let hers: @Sendable () -> Void = { [source = fixture.source] in
                source[ItemPath(unchecked: "/B/hers")] = .init(
                    bytes: Array("hers".utf8), version: ETag(opaque: "h", strength: .strong))
            }
            fixture.source.changing.then(.loseAnswerThen(hers))
            try await fixture.change(.copy(path("/A"), to: path("/B")))
            try await wait(fixture)
            #expect(try await fixture.issues().map(\.code) == ["change.refused"])
            #expect(fixture.source.changing.requests == ["COPY /A /B"])
        }
    }

    @Test("S50: a file that somebody has put at the target is a conflict, whether before or between two tries")
    func strangersTarget() async throws {
        for isMove in [true, false] {
            for isBefore in [true, false] {
                try await EngineFixture.with { fixture in
                    try await fixture.addFile("/a", "mine")
                    let hers: @Sendable () -> Void = { [source = fixture.source] in
                        source[ItemPath(unchecked: "/b")] = .init(
                            bytes: Array("hers".utf8), version: ETag(opaque: "h", strength: .strong))
                    }
                    let (a, b) = (try path("/a"), try path("/b"))
                    if isBefore { hers() } else { fixture.source.changing.then(.fail, .before(hers)) }
                    try await fixture.change(isMove ? .move(a, to: b) : .copy(a, to: b))
                    try await wait(fixture)
                    #expect(try text(fixture, "/a") == "mine" && text(fixture, "/b") == "hers", "\(isMove) \(isBefore)")
                    #expect(try await fixture.issues().count == 1)
                }
            }
        }
    }

    @Test("S49: a page with status 200 proves nothing, whatever the method; what was not done is not taken for done")
    func pages() async throws {
        for isDone in [true, false] {
            try await withTree { fixture in
                let requests: [ChangeRequest] = [
                    .createFolder(try path("/new")), .copy(try path("/A/f0"), to: try path("/copy")),
                    .move(try path("/A/f1"), to: try path("/moved")), .delete(try path("/A/f2")),
                    .delete(try path("/A/sub")),
                ]
                for request in requests {
                    let page = ScriptedChanges.Step.page(isDone: isDone)
                    fixture.source.changing.then(page, page, page, page, page, page)
                    try await fixture.change(request)
                    try await wait(fixture, minutes: 2)
                    fixture.source.changing.state.withLock { $0.steps = [] }
                }
                fixture.source.changing.then(.page(isDone: isDone), .page(isDone: isDone), .page(isDone: isDone))
                try await fixture.put("mine", "/put")
                try await wait(fixture, minutes: 2)
                let done = ["/A/f0", "/copy", "/moved", "/put"]
                #expect(files(fixture) == (isDone ? done : all), "\(isDone)")
                #expect(try await fixture.issues().isEmpty == isDone)
                #expect(try await fixture.records().isEmpty == isDone)
                #expect(fixture.source.changing.has(folder: try path("/new")) == isDone)
                #expect(try fixture.outgoing().isEmpty == isDone)
            }
        }
    }

    @Test("S35: an upload of which the server keeps less than was sent is not done, whatever its answer")
    func keptLess() async throws {
        for tellsETag in [true, false] {
            try await EngineFixture.with { fixture in
                fixture.source.changing.state.withLock { ($0.keepsLess, $0.givesETagsOnPut) = (true, tellsETag) }
                try await fixture.put("mine", "/f")
                try await wait(fixture, minutes: 2)
                #expect(try await fixture.issues().map(\.code) == ["upload.refused"])
                #expect(try fixture.outgoing().count == 1)
                #expect(try await fixture.item("/f").cloudStatus != .localCopy)
            }
        }
    }

    @Test("S35: a file that the server shows only long after it took all of it is waited for; then a person is asked")
    func late() async throws {
        for comes in [true, false] {
            try await EngineFixture.with { fixture in
                fixture.source.changing.then(.claim)
                try await fixture.put("mine", "/f")
                try await wait(fixture, minutes: 5)
                #expect(fixture.source.changing.requests == ["PUT /f"])
                #expect(try await fixture.issues().isEmpty && fixture.outgoing().count == 1)
                if comes { try write(fixture, "/f", "mine") }
                try await wait(fixture)
                if !comes {
                    let issue = try #require(try await fixture.issues().first)
                    #expect(issue.choices.first?.id == "retry")
                    _ = try await fixture.engine.resolve(issue.id, choice: "retry")
                    try await wait(fixture, minutes: 2)
                }
                #expect(try text(fixture, "/f") == "mine" && fixture.text("/f") == "mine")
                #expect(fixture.source.changing.requests.count == (comes ? 1 : 2))
                #expect(try await fixture.records().isEmpty)
                #expect(try await fixture.issues().isEmpty)
            }
        }
    }

    @Test("S50 S12: the answer `replace` is about the version that the person was asked about, and about no later one")
    func replacesWhatWasSeen() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.put("mine", "/f", replaces: true)
            try await fixture.change(file, "v2", version: "v2", isListed: false)
            _ = try await fixture.drain()
            let first = try #require(try await fixture.issues().first)
            #expect(first.message.contains("2 bytes"))
            // Somebody writes while the issue waits.
            try await fixture.change(file, "v3", version: "v3", isListed: false)
            _ = try await fixture.engine.resolve(first.id, choice: "replace")
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "v3")
            let second = try #require(try await fixture.issues().first)
            // The answer is lost, and somebody writes after this upload.
            fixture.source.changing.then(
                .loseAnswerThen { [source = fixture.source] in
                    source[ItemPath(unchecked: "/f")] = .init(
                        bytes: Array("v4, after mine".utf8), version: ETag(opaque: "v4", strength: .strong))
                })
            _ = try await fixture.engine.resolve(second.id, choice: "replace")
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "v4, after mine")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
            // What is gone when the person answers is not made anew over what somebody puts there then.
            fixture.source[file.path] = nil
            let third = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(third.id, choice: "replace")
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == nil)
            let fourth = try #require(try await fixture.issues().first)
            try write(fixture, "/f", "made anew")
            _ = try await fixture.engine.resolve(fourth.id, choice: "replace")
            _ = try await fixture.drain()
            #expect(try text(fixture, "/f") == "made anew")
            let fifth = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(fifth.id, choice: "replace")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try text(fixture, "/f") == "mine" && fixture.text("/f") == "mine")
        }
    }

    @Test(
        "S50 S22: a rule that lets the file here win replaces only what was met before anything of it may have arrived")
    func ruleAfterLostAnswer() async throws {
        let rules = ConflictRules([.init(pattern: "*", answer: .local)])
        try await EngineFixture.with(onConflict: rules) { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.put("mine", "/f", replaces: true)
            try await fixture.change(file, "v2", version: "v2", isListed: false)
            fixture.source.changing.then(
                .before {},
                .loseAnswerThen { [source = fixture.source] in
                    source[ItemPath(unchecked: "/f")] = .init(
                        bytes: Array("after mine".utf8), version: ETag(opaque: "v4", strength: .strong))
                })
            try await wait(fixture, minutes: 3)
            #expect(try text(fixture, "/f") == "after mine")
            #expect(try await fixture.issues().map(\.code) == ["upload.conflict"])
        }
    }

    @Test("S50 S18: the answer `force` is about what was there when the person was asked", arguments: [true, false])
    func forcesWhatWasSeen(_ isFolder: Bool) async throws {
        try await withTree { fixture in
            let target = isFolder ? "/A" : "/A/f0"
            fixture.engine.setOnline(false)
            try await fixture.change(.delete(path(target)))
            try write(fixture, "/A/f0", "changed")
            fixture.engine.setOnline(true)
            _ = try await fixture.drain()
            let first = try #require(try await fixture.issues().first)
            try write(fixture, isFolder ? "/A/sub/later" : "/A/f0", "later")
            _ = try await fixture.engine.resolve(first.id, choice: "force")
            _ = try await fixture.drain()
            #expect(files(fixture).contains("/A/f0") && fixture.source.changing.requests.isEmpty)
            let second = try #require(try await fixture.issues().first)
            #expect(second.code == "delete.changed")
            _ = try await fixture.engine.resolve(second.id, choice: "force")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(!files(fixture).contains("/A/f0"))
        }
    }

    @Test(
        "S49: a deletion of which a part was done goes on, and takes nothing that came meanwhile",
        arguments: [true, false])
    func partOfDeletion(_ comes: Bool) async throws {
        try await withTree { fixture in
            fixture.source.changing.then(.doPart(2))
            try await fixture.change(.delete(path("/A")))
            if comes {
                fixture.source.changing.state.withLock { $0.unanswered = 1 }
                try write(fixture, "/A/came", "later")
            }
            try await wait(fixture, minutes: 3)
            #expect(files(fixture).contains("/A/came") == comes)
            #expect(try await fixture.issues().map(\.code) == (comes ? ["delete.changed"] : []))
            #expect(try await fixture.records().isEmpty == !comes)
        }
    }

    @Test("S12: a move that was made and answered as not made is found when it is tried again")
    func madeAndDenied() async throws {
        try await withTree { fixture in
            // The server's answer is lost, and a proxy answers that nothing was done.
            let (a, b) = (try path("/A/f0"), try path("/moved"))
            try await fixture.change(.move(a, to: b))
            fixture.source.changing.then(.refuse(.other(status: 409)))
            _ = try await fixture.drain()
            fixture.source[b] = fixture.source[a]
            fixture.source[a] = nil
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "retry")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed().contains("/moved"))
        }
    }
}
