import Database
import DemoServer
import ItemPolicies
import Model
import TestServer
import TestSupport
import Testing
import Threads

@testable import Core
@testable import SyncEngine

@Suite("Commands on an account at work", .timeLimit(.minutes(20)))
struct RunningCommandsTests {
    @Test("A file is fetched, one that the host does not know yet too, and a folder with what is new in it")
    func get() async throws {
        try await AccountFixture.atWork { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/new/deep/2", "two")
        } body: { fixture in
            let known = try await fixture.get("/a/1")
            #expect(known.files.map(\.text) == ["/a/1"] && known.isWell, "\(known)")
            #expect(try fixture.text("/a/1") == "one")
            fixture.put("/late/3", "three")
            let unknown = try await fixture.get("/late/3")
            #expect(unknown.isWell, "\(unknown)")
            #expect(try fixture.text("/late/3") == "three")
            fixture.put("/new/deep/4", "four")
            let folder = try await fixture.get("/new")
            #expect(folder.isWell && folder.files.map(\.text).sorted() == ["/new/deep/2", "/new/deep/4"], "\(folder)")
            #expect(try fixture.text("/new/deep/4") == "four")
            try await expect(.notFound) { try await fixture.get("/nowhere") }
            let queued = try await fixture.host.perform(Copies.Get(ItemPath(unchecked: "/a/1"), waits: false))
            #expect(queued.isWell)
        }
    }

    @Test("A folder is walked where ETags do not tell of changes, before the next walk is due")
    func getFromPlainServer() async throws {
        try await AccountFixture.atWork(.plain) { fixture in
            fixture.put("/a/b/1", "one")
        } body: { fixture in
            fixture.put("/a/b/2", "two")
            let outcome = try await fixture.get("/a")
            #expect(outcome.isWell && outcome.files.count == 2, "\(outcome)")
            #expect(try fixture.text("/a/b/2") == "two")
        }
    }

    @Test("Copies are freed and marked as used; what is pinned stays, and the answer names the policy")
    func free() async throws {
        try await AccountFixture.atWork { fixture in
            for path in ["/a/1", "/a/2", "/b/3"] { fixture.put(path, path) }
        } body: { fixture in
            _ = try await fixture.get("/a")
            #expect(try await fixture.host.perform(Copies.NoteUse(ItemPath(unchecked: "/a"))) == 2)
            let one = try await fixture.host.perform(Copies.Free(ItemPath(unchecked: "/a/1")))
            #expect(one.freed.map(\.text) == ["/a/1"] && one.failures.isEmpty, "\(one)")
            #expect(!Files.exists(fixture.local("/a/1")) && Files.exists(fixture.local("/a/2")))
            try await fixture.pin("/b")
            try await fixture.until { Files.exists(fixture.local("/b/3")) }
            try await expect(.badData) {
                try await fixture.host.perform(Copies.Free(ItemPath(unchecked: "/b/3")))
            }
            let claim = try await fixture.host.perform(
                Claims.Add(ItemPath(unchecked: "/a/2"), as: .read, .explicit, id: nil))
            let kept = try await fixture.host.perform(Copies.Free(ItemPath(unchecked: "/a")))
            #expect(kept.freed.isEmpty && kept.failures.map(\.kind) == [.failed], "\(kept)")
            try await fixture.host.perform(Claims.Remove(claim.claim.id))
            let freed = try await fixture.host.perform(Copies.Free(ItemPath(unchecked: "/a")))
            #expect(freed.freed.map(\.text) == ["/a/2"], "\(freed)")
        }
    }

    @Test("P13: each change of policies by a command gives one run at once, and none at the next start")
    func policies() async throws {
        try await TriggerTests.recording { fixture, triggers in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            try await fixture.whileRunning { _ in
                func given() async throws -> [String] {
                    await fixture.host.policies.waitUntilIdle()
                    return try triggers().filter { $0 == "policiesChanged" }
                }
                _ = try await given()
                let policy = ItemPolicy(kind: PolicyKind("other"), identifier: "mine", condition: "false")
                let added = try await fixture.host.perform(Policies.Add(policy))
                #expect(added.policy.identifier == "mine" && added.kinds.contains(.availableOffline))
                #expect(try await given().count == 1)
                _ = try await fixture.host.perform(
                    Policies.Update(named: "mine", PolicyChange(description: "of a test")))
                #expect(try await given().count == 1)
                _ = try await fixture.host.perform(Policies.Move(.undo))
                #expect(try await given().count == 1)
                _ = try await fixture.host.perform(Policies.Remove(named: "mine"))
                #expect(try await given().count == 1)
                try await fixture.pin("/a")
                #expect(try await given().count == 1)
                // The row says that the copy is here a moment after the copy is.
                try await fixture.until {
                    let records = try await fixture.records()
                    return try await fixture.item("/a/1")?.cloudStatus == .localCopy && records.isEmpty
                }
                _ = try await given()
                try await fixture.unpin("/a")
                #expect(try await given().count == 1)
                try await fixture.until { !Files.exists(fixture.local("/a/1")) }
                _ = try await given()
            }
            try await fixture.restart()
            try await fixture.whileRunning { _ in
                let given = try triggers()
                #expect(!given.contains("policiesChanged"))
            }
        }
    }

    @Test("A trigger is run, and the copies that it removes are gone when the answer comes")
    func runPolicies() async throws {
        try await AccountFixture.atWork { fixture in
            for number in 0..<9 { fixture.put("/a/\(number)", "\(number)") }
        } body: { fixture in
            try await fixture.pin("/a")
            try await fixture.until {
                let records = try await fixture.records()
                return try fixture.tree().count == 10 && records.isEmpty
            }
            await fixture.host.policies.waitUntilIdle()
            // A change that gives no run by itself.
            try await fixture.host.database.write { tx in
                var policy = try #require(try tx.policies.all(kind: .availableOffline).first)
                policy.condition = "false"
                try tx.policies.update(policy, by: .somebody, runsTrigger: false)
            }
            await fixture.host.policies.waitUntilIdle()
            #expect(try fixture.tree().count == 10)
            let outcome = try await fixture.host.perform(Policies.Run(.itemListUpdateCompleted))
            #expect(outcome.failures.isEmpty && outcome.leftCount == 0, "\(outcome)")
            let tree = try fixture.tree()
            #expect(tree == [], "\(outcome)")
        }
    }

    @Test("A run for a trigger has its answer when the copies are gone that a run before it asked to remove")
    func runPoliciesAfterAnother() async throws {
        try await AccountFixture.atWork { fixture in
            for number in 0..<9 { fixture.put("/a/\(number)", "\(number)") }
        } body: { fixture in
            let host = fixture.host
            try await fixture.pin("/a")
            try await fixture.until {
                let records = try await fixture.records()
                return try fixture.tree().count == 10 && records.isEmpty
            }
            await host.policies.waitUntilIdle()
            let run = try await host.engine.withExclusiveTree {
                try await fixture.unpin("/a")
                await host.policies.waitUntilIdle()
                #expect(try await fixture.records().count == 9)
                let run = Task { try await host.perform(Policies.Run(.itemListUpdateCompleted)) }
                let waits = await until(atMost: .seconds(60)) {
                    host.engine.waits.state.with { $0.records.values.contains { !$0.isEmpty } }
                }
                #expect(waits && Files.exists(fixture.local("/a/1")))
                return run
            }
            let outcome = try await run.value
            #expect(outcome.failures.isEmpty && outcome.leftCount == 0, "\(outcome)")
            #expect(try fixture.tree() == [])
        }
    }

    @Test("While the password is refused a command to fetch is answered at once, with 77; its work stays queued")
    func refused() async throws {
        try await AccountFixture.atWork { fixture in
            fixture.put("/a/1", "one")
        } body: { fixture in
            let fault = fixture.server.add(Fault(.status(401)))
            let first = try await fixture.get("/a/1")
            #expect(first.failures.map(\.kind) == [.denied] && first.waiting == 1, "\(first)")
            try await fixture.until { fixture.host.isRefused }
            let asked = fixture.server.requests.count
            let second = try await fixture.get("/a/1")
            #expect(second.failures.map(\.kind) == [.denied] && second.waiting == 1, "\(second)")
            try await expect(.denied) { try await fixture.get("/unknown") }
            #expect(fixture.server.requests.count == asked)
            #expect(try await fixture.records().map(\.path.text) == ["/a/1"])
            fixture.server.remove(fault)
            fixture.secret.set(
                .basic(username: fixture.server.configuration.user, password: fixture.server.configuration.password))
            try await fixture.until { Files.exists(fixture.local("/a/1")) }
        }
    }

    @Test("Without a server a command to fetch is answered with 69, and its work stays queued; copies are freed")
    func offline() async throws {
        try await AccountFixture.atWork { fixture in
            for number in 1...2 { fixture.put("/a/\(number)", "\(number)") }
        } body: { fixture in
            _ = try await fixture.get("/a/2")
            let fault = fixture.server.add(Fault(.status(503)))
            fixture.clock.scan()
            try await fixture.until { !fixture.host.engine.isOnline }
            let outcome = try await fixture.get("/a/1")
            #expect(outcome.failures.map(\.kind) == [.unreachable] && outcome.waiting == 1, "\(outcome)")
            try await expect(.unreachable) { try await fixture.get("/unknown") }
            let freed = try await fixture.host.perform(Copies.Free(ItemPath(unchecked: "/a/2")))
            #expect(freed.freed.map(\.text) == ["/a/2"], "\(freed)")
            fixture.server.remove(fault)
            // The command has the host look for the server at once.
            let again = try await fixture.get("/a/1")
            #expect(again.isWell, "\(again)")
            #expect(try fixture.text("/a/1") == "1")
        }
    }

    @Test("Commands at one time do not disturb each other")
    func together() async throws {
        try await AccountFixture.atWork { fixture in
            for number in 0..<20 { fixture.put("/a/\(number)", "\(number)") }
        } body: { fixture in
            let host = fixture.host
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    let path = ItemPath(unchecked: "/a/\(number)")
                    group.addTask {
                        let outcome = try await host.perform(Copies.Get(path, waits: true))
                        #expect(outcome.isWell, "\(outcome)")
                    }
                    group.addTask { _ = try await host.perform(Copies.NoteUse(path)) }
                }
                for _ in 0..<3 {
                    group.addTask {
                        let outcome = try await host.perform(Copies.Get(.root, waits: true))
                        #expect(outcome.isWell, "\(outcome)")
                    }
                    group.addTask {
                        let outcome = try await host.perform(Policies.Run(.timer))
                        #expect(outcome.failures.isEmpty, "\(outcome)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try fixture.tree().count == 21)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    let path = ItemPath(unchecked: "/a/\(number)")
                    group.addTask { _ = try await host.perform(Copies.Free(path)) }
                }
                try await group.waitForAll()
            }
            try await fixture.until { try fixture.tree().filter { !$0.hasSuffix("/") } == [] }
        }
    }

    @Test("A command that is cancelled while it waits leaves its work, which can be cancelled and retried by itself")
    func cancelled() async throws {
        try await AccountFixture.atWork { fixture in
            for number in 1...2 { fixture.put("/a/\(number)", "\(number)") }
        } body: { fixture in
            let fault = fixture.server.add(Fault(.hold(), method: "GET"))
            let host = fixture.host
            let gets = (1...2).map { number in
                Task { try await host.perform(Copies.Get(ItemPath(unchecked: "/a/\(number)"), waits: true)) }
            }
            await fixture.server.untilHeld(fault, count: 2)
            gets[0].cancel()
            try await expect(.failed) { try await gets[0].value }
            let records = try await fixture.records()
            #expect(records.map(\.path.text).sorted() == ["/a/1", "/a/2"])
            // A record that another command takes away ends the wait for it.
            let second = try #require(records.first { $0.path.text == "/a/2" })
            try await host.perform(Records.Cancel(second.id))
            #expect(try await gets[1].value.waiting == 0)
            let first = try #require(records.first { $0.path.text == "/a/1" })
            try await host.perform(Records.Retry(first.id))
            fixture.server.remove(fault)
            try await fixture.until { Files.exists(fixture.local("/a/1")) }
            #expect(!Files.exists(fixture.local("/a/2")))
        }
    }

    @Test(
        "U8: a wait for the folder to which something was to be moved ends, and names what keeps the move from being made"
    )
    func waitForTarget() async throws {
        try await AccountFixture.atWork { fixture in
            fixture.put("/x", "x")
            fixture.put("/Docs/y", "y")
        } body: { fixture in
            fixture.server.add(Fault(.status(403), method: "MOVE"))
            let (from, to) = (ItemPath(unchecked: "/x"), ItemPath(unchecked: "/Docs/x"))
            _ = try await fixture.host.perform(ServerChange([.move(from, to: to)], waits: false))
            for path in [to.parent, from] {
                let waited = try await fixture.host.perform(Wait(path))
                #expect(waited.issues.map(\.code) == ["change.refused"] && waited.leftCount == 1, "\(path)")
            }
            let other = try await fixture.host.perform(Wait(ItemPath(unchecked: "/Docs/y")))
            #expect(other.issues.isEmpty && other.leftCount == 0 && other.failures.isEmpty)
        }
    }

    @Test("S28: a change that was sent is cancelled when the host has been told by the server what it has made")
    func cancelledChange() async throws {
        try await AccountFixture.atWork { _ in
        } body: { fixture in
            let sent = fixture.server.add(Fault(.hold(), method: "MKCOL"))
            let folder = ItemPath(unchecked: "/new")
            _ = try await fixture.host.perform(ServerChange([.createFolder(folder)], waits: false))
            await fixture.server.untilHeld(sent)
            let asked = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/new"))
            let record = try #require(try await fixture.records().first)
            let host = fixture.host
            let cancelled = Task { try await host.perform(Records.Cancel(record.id)) }
            await fixture.server.untilHeld(asked)
            #expect(try await fixture.records().map(\.evidence.isCancelled) == [true])
            fixture.server.remove(asked)
            _ = try await cancelled.value
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.item("/new") == nil)
            fixture.server.remove(sent)
        }
    }

    @Test("A command that waits when the host stops says that the host stops; the next run goes on with its work")
    func stopped() async throws {
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            let host = try await fixture.ready()
            let run = Task { try await host.run() }
            await fixture.clock.untilScanned()
            let fault = fixture.server.add(Fault(.hold(), method: "GET"))
            let get = Task { try await host.perform(Copies.Get(ItemPath(unchecked: "/a/1"), waits: true)) }
            await fixture.server.untilHeld(fault)
            run.cancel()
            try await run.value
            do {
                _ = try await get.value
                Testing.Issue.record("no failure")
            } catch let failure as Failure {
                #expect(failure.kind == .failed && failure.message.contains("the host stops"), "\(failure)")
            }
            fixture.server.remove(fault)
            try await fixture.close()
            try await expect(.failed) { try await host.perform(Pins.Add(.root)) }
            try await fixture.start()
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "one")
        }
    }

    @Test("A command that comes before the run's parts are at work waits for them")
    func early() async throws {
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { fixture in
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            let host = try await fixture.ready()
            host.work.expectRun()
            let get = Task { try await host.perform(Copies.Get(ItemPath(unchecked: "/a/1"), waits: true)) }
            let pin = try await host.perform(Pins.Add(.root))
            #expect(pin.policy.path == .root)
            let run = Task { try await host.run() }
            #expect(try await get.value.isWell)
            run.cancel()
            try await run.value
        }
    }

    @Test("Commands use a single run that is in progress, too")
    func once() async throws {
        try await AccountFixture.running { fixture in
            for number in 0..<3 { fixture.put("/a/\(number)", "\(number)") }
            try await fixture.runWell()
            let host = try await fixture.ready()
            let fault = fixture.server.add(Fault(.hold(), method: "GET", path: "/a/0"))
            _ = try await host.perform(Copies.Get(ItemPath(unchecked: "/a/0"), waits: false))
            let run = Task { await host.runOnce() }
            await fixture.server.untilHeld(fault)
            let get = try await host.perform(Copies.Get(ItemPath(unchecked: "/a/1"), waits: true))
            #expect(get.isWell && Files.exists(fixture.local("/a/1")), "\(get)")
            let freed = try await host.perform(Copies.Free(ItemPath(unchecked: "/a/1")))
            #expect(freed.freed.count == 1, "\(freed)")
            #expect(try await host.perform(Policies.Run(.timer)).failures.isEmpty)
            #expect(try await host.perform(Copies.Get(ItemPath(unchecked: "/a"), waits: false)).files.count == 3)
            fixture.server.remove(fault)
            let outcome = await run.value
            #expect(outcome.failures.isEmpty, "\(outcome)")
            #expect(try fixture.tree().count == 4)
        }
    }

    @Test("Progress is told while a command waits, and not after its answer")
    func progress() async throws {
        try await AccountFixture.atWork { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/a/2", "two")
        } body: { fixture in
            let fault = fixture.server.add(Fault(.hold(), method: "GET", path: "/a/2"))
            let (host, told) = (fixture.host, Told())
            let get = Task {
                try await host.perform(Copies.Get(ItemPath(unchecked: "/a"), waits: true)) { told.add($0) }
            }
            try await fixture.until { told.last?.filesDone == 1 && told.last?.filesTotal == 2 }
            fixture.server.remove(fault)
            #expect(try await get.value.isWell)
        }
    }

    /// The last progress that was told.
    private final class Told: Sendable {
        private let values = Monitor<TransferProgress?>(nil)
        var last: TransferProgress? { values.with { $0 } }
        func add(_ progress: TransferProgress) { values.change { $0 = progress } }
    }
}

@Suite("Commands about loops and issues on an account at work", .timeLimit(.minutes(20)))
struct RunningLoopCommandsTests {
    @Test("L22: a poll by command is made at once, and its answer has what came of it and the next poll")
    func poll() async throws {
        try await AccountFixture.looping(mode: "needs http") { fixture in
            try await fixture.runWell()
            try await fixture.hosting {
                try await fixture.until { fixture.asked == 1 && fixture.turns > 0 }
                let asked = fixture.asked
                let outcome = try await fixture.host.perform(Loops.Poll(named: "looper"))
                #expect(outcome.failures.isEmpty && outcome.loops.map(\.key) == [Loopers.loop], "\(outcome)")
                #expect(outcome.loops.first?.lastResult == .ok && outcome.loops.first?.nextPoll != nil, "\(outcome)")
                #expect(fixture.asked == asked + 1)
                let all = try await fixture.host.perform(Loops.Poll(named: nil))
                #expect(all.failures.isEmpty && fixture.asked == asked + 2, "\(all)")
                try await expect(.notFound) {
                    try await fixture.host.perform(Loops.Poll(named: "none"))
                }
                let off = try await fixture.host.perform(Loops.Switch(named: "looper", enabled: false))
                #expect(!off.isEnabled && off.nextPoll == nil)
                try await expect(.badData) {
                    try await fixture.host.perform(Loops.Poll(named: "looper"))
                }
                let on = try await fixture.host.perform(Loops.Switch(named: "looper", enabled: true))
                #expect(on.isEnabled)
                let again = try await fixture.host.perform(Loops.Poll(named: "looper"))
                #expect(again.failures.isEmpty && fixture.asked == asked + 3, "\(again)")
            }
        }
    }

    @Test("L33: a loop that rests since the server offered nothing is polled by a command")
    func resting() async throws {
        try await AccountFixture.looping(mode: "nothing there") { fixture in
            let polls = { fixture.log.messages.count { $0.hasPrefix("info: nothing there") } }
            try await fixture.runWell()
            try await fixture.hosting {
                await fixture.clock.untilScanned()
                // The loops are polled beside the scans.
                try await fixture.until { try await fixture.loop()?.lastResult == .notOffered }
                #expect(polls() == 1)
                let outcome = try await fixture.host.perform(Loops.Poll(named: nil))
                #expect(outcome.failures.isEmpty && polls() == 2, "\(outcome)")
            }
        }
    }

    @Test("L09: a loop that fails is named in the answer, and the next command polls it again")
    func fails() async throws {
        try await AccountFixture.looping(mode: "fail in poll 0") { fixture in
            // The first poll fetches everything anew, which this loop can do.
            try await fixture.runWell()
            try await fixture.hosting {
                await fixture.clock.untilScanned()
                for _ in 0..<2 {
                    let outcome = try await fixture.host.perform(Loops.Poll(named: nil))
                    #expect(
                        outcome.failures.map(\.message) == ["The loop looper:looper: as it was told to"], "\(outcome)")
                }
            }
        }
    }

    @Test("One command answers an issue, or all with a code, with a result for each")
    func issues() async throws {
        try await AccountFixture.atWork { fixture in
            for number in 1...3 { fixture.put("/a/\(number)", "one") }
        } body: { fixture in
            _ = try await fixture.get("/a")
            for number in 1...3 {
                try Files.write("changed here", to: fixture.local("/a/\(number)"))
                fixture.put("/a/\(number)", "another")
            }
            fixture.clock.scan()
            try await fixture.until {
                let items = try await fixture.host.database.read { reads in
                    try (1...3).map { try reads.items.item(at: ItemPath(unchecked: "/a/\($0)")) }
                }
                return items.allSatisfy { $0?.cloudStatus == .locallyModified && $0?.remoteVersion == .newer }
            }
            await fixture.clock.untilScanned()
            let outcome = try await fixture.get("/a")
            #expect(outcome.issues.count == 3, "\(outcome)")
            let code = try #require(outcome.issues.first?.code)
            try await expect(.badData) {
                try await fixture.host.perform(Issues.Answer(outcome.issues[0].id, choice: "none"))
            }
            let wrong = try await fixture.host.perform(Issues.Answer(allWith: code, choice: "none"))
            #expect(wrong.count == 3 && wrong.allSatisfy { $0.failure?.kind == .badData }, "\(wrong)")
            #expect(try await fixture.host.perform(Issues.Answer(allWith: "no.such", choice: "x")).isEmpty)
            let answers = try await fixture.host.perform(
                Issues.Answer(allWith: code, choice: "overwriteModifiedFile"))
            #expect(answers.count == 3 && answers.allSatisfy { $0.failure == nil }, "\(answers)")
            try await fixture.until { (try? fixture.text("/a/3")) == "another" }
        }
    }
}

extension AccountFixture {
    /// Runs `body` with an account at work, which scans when the test or a command says so.
    /// - Parameter prepare: puts files on the server before the run.
    static func atWork(
        _ manner: Manner = Manner(), isolation: isolated (any Actor)? = #isolation,
        _ prepare: (AccountFixture) async throws -> Void, body: (AccountFixture) async throws -> Void
    ) async throws {
        let settings = Settings(poll: TestClock.poll, walk: TestClock.poll)
        try await running(manner, settings: settings) { fixture in
            try await prepare(fixture)
            try await fixture.runWell()
            try await fixture.hosting {
                await fixture.clock.untilScanned()
                try await body(fixture)
            }
        }
    }

    fileprivate func get(_ path: String) async throws -> GetOutcome {
        try await host.perform(Copies.Get(ItemPath(unchecked: path), waits: true))
    }
}

/// Expects that the body fails with a kind.
private func expect<T>(
    _ kind: Failure.Kind, isolation: isolated (any Actor)? = #isolation, _ place: SourceLocation = #_sourceLocation,
    _ body: () async throws -> T
) async throws {
    do {
        _ = try await body()
        Testing.Issue.record("no failure", sourceLocation: place)
    } catch let failure as Failure {
        #expect(failure.kind == kind, "\(failure)", sourceLocation: place)
    }
}

extension GetOutcome {
    /// Whether everything is here.
    fileprivate var isWell: Bool { waiting == 0 && failures.isEmpty && issues.isEmpty }
}
