import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of waits while the time of day is set.
struct WaitTests {
    private let remove = SyncRecord.Action.removeLocalCopy(restoringFormerTrigger: false)

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
            closeForAll(reader)
            clock.set(off: step)
            clock.advance(.seconds(60))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil)
            try fixture.vault.close()
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
