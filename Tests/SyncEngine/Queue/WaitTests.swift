import Connection
import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Threads
import Vault

@testable import SyncEngine

/// Tests of waits of records, and of tasks for records.
struct WaitTests {
    private let remove = ItemAction.removeLocalCopy(restoringFormerTrigger: false)

    @Test(
        "P59: the clock set back, by an hour or by 40 days, makes no wait longer",
        arguments: [Duration.seconds(-3600), .seconds(-40 * 86_400)])
    func setBack(by step: Duration) async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock.jumping()
            let fixture = try EngineFixture(folder: folder, time: clock.host)
            let file = try await fixture.addFile("/a")
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            let reader = open(fixture.tree.localPath(of: file.path), O_RDONLY | O_CLOEXEC)
            try await fixture.ask(remove, file, for: .availableOffline)
            #expect(try await fixture.drain().leftCount == 1)
            close(reader)
            clock.set(off: step)
            clock.advance(.seconds(60))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil)
            try fixture.vault.close()
        }
    }

    @Test("S7: a task that waits for a change learns that what must be made before it waits for a person's answer")
    func waitsBehindAnIssue() async throws {
        try await EngineFixture.with { fixture in
            let path = { (text: String) in try ItemPath(text) }
            try await fixture.addFile("/a")
            fixture.source.changing.then(.refuse(.forbidden))
            let run = Task { try await fixture.run() }
            try await fixture.change(.copy(path("/a"), to: path("/b")))
            try await until { try await !fixture.issues().isEmpty }
            for isFirst in [true, false] {
                // The second is behind the first, which waits by itself for nothing.
                let target = isFirst ? "/c" : "/d"
                guard
                    case .queued(let id) = try await fixture.change(
                        .move(path(isFirst ? "/a" : "/c"), to: path(target)))
                else { throw SetupError("not queued") }
                let outcome = try await fixture.engine.wait(for: [id])
                #expect(
                    outcome.left.map(\.record) == [id] && outcome.left.first?.why.contains("waits for record") == true)
            }
            // A wait for all of it ends too, and none of it is work.
            let all = Set(try await fixture.records().map(\.id))
            #expect(try await fixture.engine.wait(for: all).leftCount == all.count)
            await until { fixture.engine.isResting }
            // What was asked for before the answer came learns of it too.
            let gate = Gate()
            fixture.source.changing.then(.hold(gate))
            try await fixture.addFile("/x")
            try await fixture.change(.copy(path("/x"), to: path("/y")))
            await gate.untilReached()
            guard case .queued(let id) = try await fixture.change(.delete(path("/x"))) else {
                throw SetupError("not queued")
            }
            let waiting = Task { try await fixture.engine.wait(for: [id]) }
            await fixture.engine.waits.state.wait { $0.before.values.contains { !$0.isEmpty } }
            fixture.source.changing.then(.refuse(.forbidden))
            fixture.source[try path("/x")] = nil
            gate.open()
            #expect(try await waiting.value.left.map(\.record) == [id])
            run.cancel()
            _ = await run.result
        }
    }

    @Test("S28: a task that follows a change learns that it was taken back, and of what was taken back with it")
    func followed() async throws {
        try await EngineFixture.with { fixture in
            let path = { (text: String) in try ItemPath(text) }
            try await fixture.addFile("/a")
            fixture.engine.setOnline(false)
            func queue(_ change: ChangeRequest) async throws -> SyncRecordID {
                guard case .queued(let id) = try await fixture.change(change) else { throw SetupError("not queued") }
                return id
            }
            let first = try await queue(.createFolder(path("/d")))
            let inside = try await queue(.move(path("/a"), to: path("/d/a")))
            let other = try await queue(.createFolder(path("/e")))
            let followed = try await fixture.engine.following([first, inside, other]) {
                try await fixture.engine.cancel(first)
                fixture.engine.setOnline(true)
                _ = try await fixture.drain()
            }
            #expect(followed.takenBack == [first, inside])
            #expect(try await fixture.records().isEmpty && fixture.source.changing.has(folder: path("/e")))
            #expect(try await fixture.engine.following([first]) {}.takenBack.isEmpty)
        }
    }

    @Test("P59: a wait that was written when the clock was far ahead ends")
    func writtenAhead() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a")
            guard case .queued(let id) = try await fixture.ask(.download, file) else { throw SetupError("not queued") }
            try await fixture.database.write { [now = fixture.clock.now] tx in
                var record = try #require(try tx.journal.record(id: id))
                record.wait = .until(now + .seconds(40 * 86_400))
                try tx.journal.update(record)
            }
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "content")
        }
    }
}
