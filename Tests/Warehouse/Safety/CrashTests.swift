import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Warehouse

/// Tests that stop the process before each system call in turn. From that call on no call has any effect, as after
/// `kill -9`.
@Suite struct CrashTests {
    private func everyStop(_ operation: Operation, exchanges: Bool) throws {
        let (before, after) = try operation.states(exchanges: exchanges)
        #expect(before != after)
        var number = 0
        var hasEnded = false
        var seen: Set<Observation> = []
        while !hasEnded {
            let fixture = try Operation.Fixture(exchanges: exchanges)
            fixture.faults.arm(stoppingAt: number)
            do {
                try operation.perform(fixture)
            } catch let error as ProjectError {
                #expect((error.underlying as? SystemCallError)?.code == ECANCELED, "stop \(number): \(error)")
            }
            hasEnded = fixture.faults.passed.count <= number
            fixture.faults.disarm()
            let now = try Observation(fixture.storage)
            #expect(now == before || now == after, "\(operation), stop \(number): \(fixture.faults.passed.suffix(3))")
            seen.insert(now)
            // This storage is that of the next start.
            let storage = fixture.folder.storage(clock: fixture.clock)
            if now == before { #expect(try Observation.files(fixture.source) == ["new/picture": [0x34]], "\(number)") }
            #expect(try Observation(storage) == now, "\(operation), stop \(number), swept")
            #expect(try fixture.folder.leftovers(storage) == [], "\(operation), stop \(number)")
            if now == before {
                var again = fixture
                again.storage = storage
                try operation.perform(again)
                #expect(try Observation(storage) == after, "\(operation), stop \(number), done again")
            }
            number += 1
        }
        #expect(seen == [before, after])
        #expect(number > 10)
    }

    @Test(
        "W05 W19: an update that is stopped at any call leaves the old or the new state, and the next start no rest",
        arguments: [Operation.firstStep, .update, .move, .undo, .setDate], [true, false])
    func update(_ operation: Operation, exchanges: Bool) throws {
        try StorageFixture.$root.withValue(StorageFixture.memory) { try everyStop(operation, exchanges: exchanges) }
    }

    @Test("W04 W19: a deletion that is stopped at any call leaves the project whole or gone", arguments: [true, false])
    func delete(exchanges: Bool) throws {
        try StorageFixture.$root.withValue(StorageFixture.memory) { try everyStop(.delete, exchanges: exchanges) }
    }

    @Test(
        "W05 W19: a project is created or duplicated whole or not at all, wherever that is stopped",
        arguments: [Operation.create, .duplicate])
    func create(_ operation: Operation) throws {
        try StorageFixture.$root.withValue(StorageFixture.memory) { try everyStop(operation, exchanges: true) }
    }

    @Test("W05: the data of one moment are read while others take their place", arguments: [true, false])
    func readers(exchanges: Bool) throws {
        let fixture = try Operation.Fixture(exchanges: exchanges)
        // The writer pauses at each of its calls while a reader reads.
        let reader = fixture.folder.storage(clock: fixture.clock)
        let (before, after) = try Operation.update.states(exchanges: exchanges)
        let seen = Mutex<[Observation]>([])
        let writer = ProjectStorage(
            base: fixture.folder.base, bundleID: "org.example.editor", now: { [clock = fixture.clock] in clock.date },
            disk: Disk { [fixture] call, path throws(SystemCallError) in
                if let now = try? Observation(reader) { seen.withLock { $0.append(now) } }
                try fixture.faults.pass(call, path)
            })
        var again = fixture
        again.storage = writer
        try Operation.update.perform(again)
        let all = seen.withLock { $0 }
        #expect(all.count > 20)
        #expect(Set(all) == [before, after])
        let change = try #require(all.firstIndex(of: after))
        #expect(all[..<change].allSatisfy { $0 == before } && all[change...].allSatisfy { $0 == after })
    }

    @Test("W06: steps are in place, durably, before the data name them, and go after the data forgot them")
    func order() throws {
        let fixture = try Operation.Fixture(exchanges: true)
        let old = try fixture.storage.stepIDs(of: fixture.id)
        fixture.faults.arm()
        try Operation.update.perform(fixture)
        let calls = fixture.faults.passed
        func last(_ call: Disk.Call, _ suffix: String) -> Int? {
            calls.lastIndex { $0.call == call && $0.path.hasSuffix(suffix) }
        }
        let step = try #require(try fixture.storage.stepIDs(of: fixture.id).last)
        let written = try #require(calls.firstIndex { $0.call == .fsync && $0.path.hasSuffix("\(step)/data/userData") })
        let placed = try #require(last(.rename, "steps/\(step)"))
        let durable = try #require(last(.fsync, "/steps"))
        let data = try #require(calls.firstIndex { $0.call == .fsync && $0.path.hasSuffix("/metadata") })
        let exchanged = try #require(last(.exchange, "\(fixture.id)/data"))
        let final = try #require(last(.fsync, "/\(fixture.id)"))
        let removed = try #require(calls.firstIndex { $0.call == .rmdir && $0.path.hasSuffix("steps/\(old[2])") })
        let consumed = try #require(last(.rmdir, fixture.source))
        let order = [written, placed, durable, exchanged, final, removed, consumed]
        #expect(order == order.sorted())
        #expect(data < exchanged)
        // All new data are made durable before the exchange: each file, and each folder that contains names.
        let synced = Set(calls[..<exchanged].filter { $0.call == .fsync }.map(\.path))
        for call in calls[..<exchanged] where [.mkdir, .open].contains(call.call) && call.path.contains(".staging/") {
            guard call.path.split(separator: "/").last.map(String.init).flatMap(StepID.init) == nil else { continue }
            #expect(synced.contains(call.path), "\(call.path)")
        }
    }
}
