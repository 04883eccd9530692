import Model
import TestSupport
import Testing
import Threads

@testable import Database
@testable import SyncEngine

/// The threads on which the engine waits for the database and the disk.
@Suite struct EngineThreadsTests {
    @Test("While all connections that read are in use, the removal of snapshots holds no thread of other tasks")
    func readersInUse() async throws {
        try await EngineFixture.with { fixture in
            fixture.engine.setOnline(false)
            try await fixture.put("mine", "/mine")
            try await fixture.change(.delete(ItemPath("/mine")))
            let gate = Gate()
            let readers = (0..<Database.readers).map { _ in
                Task { try await fixture.database.read { _ in gate.passOnThread() } }
            }
            await gate.untilReached(times: Database.readers)
            // On a machine with one processor all tasks share one thread.
            let threads = BlockingExecutor(name: "test", threads: 1, longestWork: .seconds(3600))
            let removal = Task(executorPreference: threads) { await fixture.engine.removeSpentSnapshots() }
            let other = Task(executorPreference: threads) { gate.open() }
            #expect(await until(atMost: .seconds(60)) { gate.isOpen })
            gate.open()
            await removal.value
            await other.value
            for reader in readers { try await reader.value }
            threads.close()
            #expect(try fixture.outgoing().isEmpty)
        }
    }
}
