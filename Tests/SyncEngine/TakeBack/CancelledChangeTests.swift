import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Changes that are cancelled while the server is asked for them, or after that.
@Suite struct CancelledChangeTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }
    private func text(_ fixture: EngineFixture, _ path: String) throws -> String? {
        fixture.source[try ItemPath(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func wait(_ fixture: EngineFixture, minutes: Int = 3) async throws {
        for _ in 0..<minutes {
            _ = try await fixture.drain()
            fixture.clock.advance(.seconds(60))
        }
        _ = try await fixture.drain()
    }

    /// Requests a change whose request is under way when the body is called.
    private func underWay(
        _ fixture: EngineFixture, _ step: ScriptedChanges.Step, _ ask: () async throws -> EnqueueOutcome,
        _ body: (SyncRecordID) async throws -> Void
    ) async throws {
        fixture.source.changing.then(step)
        guard case .queued(let id) = try await ask() else { throw SetupError("the change was not queued") }
        async let drained = fixture.drain()
        await until { !fixture.source.changing.requests.isEmpty }
        try await body(id)
        _ = try await drained
    }

    @Test(
        "S28: an upload under way is cancelled by ending its request: what the server has of it is taken as it is",
        arguments: [0, 2, .max])
    func upload(_ bytes: Int) async throws {
        for isNew in [true, false] {
            try await EngineFixture.with { fixture in
                if !isNew { try await fixture.addFile("/f", "base") }
                // A server that keeps what came of a request that was cut off.
                fixture.source.changing.state.withLock { $0.name = "Other/1.0" }
                try await underWay(fixture, .hang(doing: bytes)) {
                    try await fixture.put("mine", "/f", replaces: !isNew)
                } _: { id in
                    try await fixture.engine.cancel(id)
                }
                try await wait(fixture)
                #expect(fixture.source.changing.requests == ["PUT /f"])
                guard bytes != 2 else {
                    // Only the snapshot is whole: a person is told, and nothing is given up.
                    #expect(try await fixture.issues().map(\.code) == ["upload.refused"])
                    #expect(try fixture.outgoing().count == 1)
                    return
                }
                #expect(try await fixture.records().isEmpty && fixture.outgoing().isEmpty)
                #expect(try await fixture.issues().isEmpty)
                #expect(fixture.engine.progress.filesTotal == fixture.engine.progress.filesDone)
                #expect(try text(fixture, "/f") == (bytes > 0 ? "mine" : isNew ? nil : "base"))
                #expect(try await fixture.listed() == (bytes > 0 || !isNew ? ["/f"] : []))
            }
        }
    }

    @Test("S28: after a kill, and without the server, a change is cancelled when the server tells what it holds")
    func afterKill() async throws {
        for arrived in [true, false] {
            try await EngineFixture.with { fixture in
                fixture.source.changing.then(arrived ? .loseAnswer : .loseRequest)
                fixture.source.changing.state.withLock { $0.unanswered = 100 }
                guard case .queued(let id) = try await fixture.put("mine", "/f") else { return }
                _ = try await fixture.drain()
                #expect(try await fixture.records().map(\.mayHaveArrived) == [true])
                let again = try EngineFixture(reopening: fixture)
                again.engine.setOnline(false)
                try await again.engine.cancel(id)
                // Without the server nobody knows, and nothing more is sent.
                _ = try await again.drain()
                #expect(try await again.records().map(\.evidence.isCancelled) == [true])
                again.source.changing.state.withLock { $0.unanswered = 0 }
                again.engine.setOnline(true)
                try await wait(again)
                #expect(again.source.changing.requests == ["PUT /f"])
                #expect(try await again.listed() == (arrived ? ["/f"] : []))
                #expect(try again.outgoing().isEmpty && again.text("/f") == (arrived ? "mine" : nil))
                #expect(try await again.records().isEmpty)
                try again.vault.close()
            }
        }
    }

    @Test(
        "S28: a move, copy or deletion that is cancelled stays until the server has shown the same for a minute",
        arguments: ["mv", "cp", "rm"])
    func stillness(_ change: String) async throws {
        for goesOn in [true, false] {
            try await EngineFixture.with { fixture in
                try await fixture.addFolder("/d")
                for name in ["/d/f", "/d/g"] { try await fixture.addFile(name, "of \(name)") }
                let (d, e) = (try path("/d"), try path("/e"))
                try await underWay(fixture, .hang(doing: 1)) {
                    switch change {
                    case "mv": try await fixture.change(.move(d, to: e))
                    case "cp": try await fixture.change(.copy(d, to: e))
                    default: try await fixture.change(.delete(d))
                    }
                } _: { id in
                    try await fixture.engine.cancel(id)
                }
                #expect(try await fixture.records().map(\.evidence.isCancelled) == [true])
                if goesOn {
                    // The server goes on after it was asked once.
                    fixture.clock.advance(.seconds(59))
                    if change != "rm" { fixture.source[try path("/e/g")] = fixture.source[try path("/d/g")] }
                    if change != "cp" {
                        fixture.source[try path("/d/g")] = nil
                        fixture.source.changing.state.withLock { _ = $0.folders.remove(d) }
                    }
                    fixture.clock.advance(.seconds(1))
                    _ = try await fixture.drain()
                    // What is gone from the source is moved, or deleted. Of a copy one more answer is needed.
                    #expect(try await fixture.records().count == (change == "cp" ? 1 : 0), "\(change)")
                }
                fixture.clock.advance(.seconds(60))
                _ = try await fixture.drain()
                #expect(try await fixture.records().isEmpty, "\(change) \(goesOn)")
                #expect(try await fixture.issues().isEmpty)
                #expect(fixture.source.changing.requests.count == 1)
                if change != "cp", !goesOn {
                    // A part may be gone.
                    let jobs = try await fixture.database.read { try $0.scan.jobs() }
                    #expect(jobs.contains(ScanJob(path: d, isWhole: true)), "\(change)")
                }
                let listed = try await fixture.listed()
                switch (change, goesOn) {
                case ("mv", true): #expect(listed == ["/e", "/e/f", "/e/g"])
                case ("rm", true): #expect(listed == [])
                case ("cp", _): #expect(listed.filter { !$0.hasPrefix("/e/") } == ["/d", "/d/f", "/d/g", "/e"])
                default: #expect(listed == ["/d", "/d/f", "/d/g"])
                }
            }
        }
    }

    @Test(
        "S28 S51: what waits for a person because it is uncertain is taken as it is, and no deletion behind it takes the rest"
    )
    func uncertain() async throws {
        for isCopy in [true, false] {
            try await EngineFixture.with { fixture in
                try await fixture.addFolder("/d")
                for name in ["/d/f", "/d/g"] { try await fixture.addFile(name, "of \(name)") }
                let (d, e) = (try path("/d"), try path("/e"))
                fixture.source.changing.then(.doPart(1))
                try await fixture.change(isCopy ? .copy(d, to: e) : .move(d, to: e))
                try await fixture.change(.delete(isCopy ? d : e))
                try await wait(fixture, minutes: 20)
                let issue = try #require(try await fixture.issues().first)
                #expect(issue.code == "change.uncertain")
                if isCopy {
                    _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
                } else {
                    try await fixture.engine.cancel(try #require(issue.record))
                }
                // While the server is asked, nobody else is.
                #expect(try await fixture.issues().isEmpty)
                try await wait(fixture)
                #expect(try await fixture.records().isEmpty)
                #expect(try await fixture.issues().isEmpty)
                for name in ["f", "g"] {
                    let there = [try text(fixture, "/d/\(name)"), try text(fixture, "/e/\(name)")]
                    #expect(there.contains("of /d/\(name)"), "\(isCopy) \(name)")
                }
                #expect(fixture.source.changing.requests.count == 1)
            }
        }
    }

    @Test("S51: a move that was made while a proxy denied it is taken as it is")
    func denied() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFile("/a", "mine")
            fixture.source.changing.then(.deny)
            try await fixture.change(.move(path("/a"), to: path("/b")))
            try await wait(fixture)
            // The next try finds it, or a person has it looked for.
            if let first = try await fixture.issues().first {
                _ = try await fixture.engine.resolve(first.id, choice: "retry")
            }
            try await wait(fixture, minutes: 20)
            if let second = try await fixture.issues().first {
                _ = try await fixture.engine.resolve(second.id, choice: "cancel")
                try await wait(fixture)
            }
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.listed() == ["/b"] && text(fixture, "/b") == "mine")
        }
    }

    @Test("S28: a folder whose creation was cancelled does not count as made where a calendar is in its place")
    func calendarMeanwhile() async throws {
        try await EngineFixture.with { fixture in
            let cal = try path("/cal")
            try await underWay(fixture, .hang(doing: 0)) {
                try await fixture.change(.createFolder(cal))
            } _: { id in
                fixture.source.changing.state.withLock { ($0.calendars, $0.folders) = ([cal], [.root, cal]) }
                try await fixture.engine.cancel(id)
            }
            try await wait(fixture)
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.listed().isEmpty)
        }
    }

    @Test("S28: a cancelled change can be asked for again")
    func retried() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFile("/a", "mine")
            var record: SyncRecordID?
            try await underWay(fixture, .hang(doing: 0)) {
                try await fixture.change(.move(path("/a"), to: path("/b")))
            } _: { id in
                try await fixture.engine.cancel(id)
                record = id
            }
            try await fixture.engine.retry(try #require(record))
            try await wait(fixture)
            #expect(try await fixture.records().isEmpty)
            #expect(try text(fixture, "/b") == "mine" && fixture.source.changing.requests.count == 2)
        }
    }

    @Test("S28: a change that is refused just when it is cancelled is cancelled, and nobody is asked about it")
    func refusedMeanwhile() async throws {
        try await EngineFixture.with { fixture in
            let folder = try await fixture.addFolder("/p").path
            // Somebody else has deleted the folder.
            fixture.source.changing.state.withLock { _ = $0.folders.remove(folder) }
            let gate = Gate(ignoresCancellation: true)
            try await underWay(fixture, .hold(gate)) {
                try await fixture.change(.createFolder(path("/p/k")))
            } _: { id in
                try await fixture.engine.cancel(id)
                gate.open()
            }
            try await wait(fixture)
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed() == ["/p"])
            #expect(fixture.source.changing.requests == ["MKCOL /p/k"])
        }
    }
}
