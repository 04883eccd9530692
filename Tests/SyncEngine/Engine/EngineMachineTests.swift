import Database
import Glibc
import Model
import TestSupport
import Testing

@testable import LocalTree
@testable import SyncEngine

/// Tests of the engine's decisions without a vault, a server or a clock.
struct EngineMachineTests {
    @Test("S4 S25: whatever comes, in whatever order, no record is done twice or lost, and in the end nothing is left")
    func anyCourse() async throws {
        let seed = SeededGenerator().seed
        // The rounds take long, so they run on a thread of their own.
        let trouble = try await onThread { () -> String? in
            for round in 0..<UInt64(SeededGenerator.rounds()) {
                var model = EngineModel(seed: seed &+ round)
                for _ in 0..<150 { model.step() }
                guard model.settleDown(), model.contradictions.isEmpty else {
                    let left = model.journal.values.map(\.journal)
                    return "LARDER_TEST_SEED=\(seed &+ round): \(model.contradictions), left: \(left)"
                }
            }
            return nil
        }
        #expect(trouble == nil)
    }

    private static let now = Timestamp(seconds: 1_000)

    private static func job(_ id: SyncRecordID, _ path: String, _ action: SyncRecord.Action = .download) -> Job {
        let item = Item(
            localID: LocalID(path), fileID: FileID(path), path: ItemPath(unchecked: path), kind: .file)
        let record = SyncRecord(
            id: id, action: action, state: .ready, localID: item.localID, path: item.path, reason: .user, since: now)
        return Job(record, item: item)
    }

    private static let quiet = EngineFlags(hasNews: false, isStale: false)

    /// Makes a machine that has received its flags and has read these records as the whole journal.
    private static func machine(having jobs: [Job], _ flags: EngineFlags = quiet) -> EngineMachine {
        var machine = EngineMachine(limits: Limits(downloads: 2))
        machine.take(.told(flags, treeAccess: .none, hasUnmarked: false), now: now)
        #expect(machine.decide(now: now).contains { if case .read = $0 { true } else { false } })
        machine.take(.read(JournalPage(jobs: jobs, last: jobs.last?.id ?? 0)), now: now)
        return machine
    }

    private static func tell(_ machine: inout EngineMachine, at time: Timestamp = now, _ flags: EngineFlags) {
        machine.take(.told(flags, treeAccess: .none, hasUnmarked: false), now: time)
    }

    @Test("Drained is an empty journal that was read to its end, and not before")
    func drained() {
        var machine = EngineMachine(limits: Limits(downloads: 2))
        #expect(!machine.isDrained(now: Self.now))
        _ = machine.decide(now: Self.now)
        #expect(!machine.isDrained(now: Self.now))
        machine.take(.read(JournalPage()), now: Self.now)
        #expect(machine.decide(now: Self.now).isEmpty && machine.isDrained(now: Self.now))
        Self.tell(&machine, EngineFlags(expectsMore: true, hasNews: false, isStale: false))
        #expect(!machine.isDrained(now: Self.now))
    }

    @Test("S53: after a batch that was not taken, files come one by one for a minute")
    func batchesAgain() {
        var machine = EngineMachine(limits: Limits(downloads: 2))
        func takesBatch(at time: Timestamp) -> Bool? {
            let news = EngineFlags(hasNews: true, isStale: false)
            machine.take(.told(news, treeAccess: .none, hasUnmarked: false, takesBatches: true), now: time)
            let request = machine.decide(now: time).lazy.compactMap {
                if case .read(let request) = $0 { request } else { nil }
            }.first
            machine.take(.read(JournalPage()), now: time)
            return request?.takesBatch
        }
        #expect(takesBatch(at: Self.now) == true)
        machine.take(.batchEnded(wasTaken: false), now: Self.now)
        #expect(takesBatch(at: Self.now + .seconds(59)) == false)
        #expect(takesBatch(at: Self.now + .seconds(60)) == true)
        machine.take(.batchEnded(wasTaken: true), now: Self.now + .seconds(61))
        #expect(takesBatch(at: Self.now + .seconds(62)) == true)
    }

    @Test("S4 S53: what follows a download of a batch that has to wait is read again, and waits behind it")
    func waitingBatched() throws {
        var machine = EngineMachine(limits: Limits(downloads: 2))
        func told(at time: Timestamp) {
            let news = EngineFlags(hasNews: true, isStale: false)
            machine.take(.told(news, treeAccess: .none, hasUnmarked: false, takesBatches: true), now: time)
        }
        let first = Self.job(1, "/a")
        var builder = DownloadBatch.Builder(coverage: nil)
        var path = "/a"
        path.withUTF8 { path in
            _ = builder.add(
                .init(
                    record: 1, item: 1, localID: first.record.localID, lastModified: Self.now, reason: .user,
                    whileCovered: false),
                path: UnsafeRawBufferPointer(path), version: UnsafeRawBufferPointer(start: nil, count: 0), size: 1)
        }
        let batch = try #require(builder.batch)
        told(at: Self.now)
        _ = machine.decide(now: Self.now)
        var page = JournalPage(jobs: [], last: 1)
        page.batch = batch
        machine.take(.read(page), now: Self.now)
        #expect(machine.decide(now: Self.now).contains { if case .fetchBatch = $0 { true } else { false } })
        let mark = mark(inode: 1)
        machine.take(
            .batched([
                .complete(
                    BatchArrival(
                        batch: batch, file: 0, result: IncomingResult(digest: .init(), mark: mark, failures: 0)))
            ]), now: Self.now)
        machine.take(.batchEnded(wasTaken: true), now: Self.now)
        let later = Self.now + .seconds(2)
        told(at: later)
        var effects = machine.decide(now: later)
        let landing = effects.lazy.compactMap { if case .land(let arrivals, _) = $0 { arrivals } else { nil } }.first
        func isReading() -> Bool { effects.contains { if case .read = $0 { true } else { false } } }
        var outcome = LandingOutcome()
        let wait = later + .seconds(60)
        outcome.outcomes = [RecordOutcome(record: 1, resolution: .waits(until: wait))]
        machine.take(.landed(try #require(landing), outcome), now: later)
        let next = Self.job(2, "/a", .setFavorite(true))
        if isReading() { machine.take(.read(JournalPage(jobs: [next], last: 2)), now: later) }
        effects = machine.decide(now: later)
        if effects.contains(where: { if case .recall = $0 { true } else { false } }) {
            machine.take(.recalled([], batched: []), now: later)
            effects += machine.decide(now: later)
        }
        #expect(!effects.contains { if case .change = $0 { true } else { false } })
        let request = effects.lazy.compactMap { if case .read(let request) = $0 { request } else { nil } }.first
        #expect(request?.after == SyncRecordID.none)
        var waiting = first
        waiting.record.wait = .until(wait)
        machine.take(.read(JournalPage(jobs: [waiting, next], last: 2)), now: later)
        #expect(!machine.decide(now: later).contains { if case .change = $0 { true } else { false } })
    }

    @Test("S53: no batch of uploads begins while an answer is judged that may be that of all others too")
    func judgedUploads() {
        func upload(_ id: SyncRecordID) -> Job {
            let upload = Upload(
                snapshot: "s\(id)", size: 3, digest: [], sha1: [], modified: Self.now, isNew: true)
            return Self.job(id, "/\(id)", .upload(upload))
        }
        var machine = EngineMachine(limits: Limits(uploads: 1))
        func told() {
            let uploads = UploadsAtOnce(small: 4, large: 4, inBatches: true)
            machine.take(.told(Self.quiet, treeAccess: .none, hasUnmarked: false, uploads: uploads), now: Self.now)
        }
        told()
        _ = machine.decide(now: Self.now)
        machine.take(.read(JournalPage(jobs: (1...400).map { upload($0) }, last: 400)), now: Self.now)
        func started() -> [Job] {
            machine.decide(now: Self.now).flatMap { effect -> [Job] in
                if case .change(let jobs) = effect { jobs } else { [] }
            }
        }
        let first = started()
        #expect(first.count == BatchUpload.handedAhead && started().isEmpty)
        // Nothing goes out for less than a whole batch.
        func end(_ jobs: ArraySlice<Job>) {
            for job in jobs {
                machine.take(.changed(job, .resolved(RecordOutcome(record: job.id, resolution: .ended))), now: Self.now)
            }
        }
        end(first.prefix(BatchUpload.most - 1))
        #expect(started().isEmpty)
        machine.take(.uploadGoesOn(first[100].id), now: Self.now)
        end(first[(BatchUpload.most - 1)..<100])
        #expect(started().isEmpty)
        end(first[100...100])
        #expect(started().count == 101)
    }

    @Test("News soon after a read wait for the rest of the interval while something is under way, and else for nothing")
    func newsSoonAfterRead() {
        let news = EngineFlags(hasNews: true, isStale: false)
        let (soon, end) = (Self.now + .milliseconds(5), Self.now + EngineMachine.readInterval)
        var machine = Self.machine(having: [Self.job(1, "/a", .setFavorite(true))])
        #expect(machine.decide(now: Self.now).contains { if case .change = $0 { true } else { false } })
        Self.tell(&machine, at: soon, news)
        let effects = machine.decide(now: soon)
        #expect(!Self.reads(effects) && !machine.isDrained(now: soon))
        #expect(effects.contains { if case .wake(end) = $0 { true } else { false } })
        machine.take(.woke, now: end)
        #expect(Self.reads(machine.decide(now: end)))

        var idle = Self.machine(having: [])
        Self.tell(&idle, at: soon, news)
        #expect(Self.reads(idle.decide(now: soon)))
    }

    private static func measures(_ effects: [EngineMachine.Effect]) -> Bool {
        effects.contains { if case .measureRoom = $0 { true } else { false } }
    }

    private static func reads(_ effects: [EngineMachine.Effect]) -> Bool {
        effects.contains { if case .read = $0 { true } else { false } }
    }

    /// Makes a machine that has read a journal in which a download of 500 bytes waits for room.
    private static func lackingMachine() -> EngineMachine {
        var machine = machine(having: [])
        var page = JournalPage()
        var lack = RoomLack()
        lack.add(size: 700, missing: 500)
        page.lack = lack
        tell(&machine, EngineFlags(hasNews: true, isStale: true))
        #expect(reads(machine.decide(now: now)))
        machine.take(.read(page), now: now)
        return machine
    }

    @Test("C13: what waits for room is left by a single run; its room is measured, and read again when it is enough")
    func room() {
        var machine = Self.lackingMachine()
        #expect(!Self.measures(machine.decide(now: Self.now)))
        #expect(machine.isDrained(now: Self.now) && machine.lack?.count == 1)
        let later = Self.now + EngineMachine.roomInterval
        #expect(Self.measures(machine.decide(now: later)))
        #expect(!machine.isDrained(now: later))
        machine.take(.measured(left: 499), now: later)
        #expect(!Self.reads(machine.decide(now: later)) && machine.isDrained(now: later))
        let last = later + EngineMachine.roomInterval
        #expect(Self.measures(machine.decide(now: last)))
        machine.take(.measured(left: 500), now: last)
        #expect(!machine.isDrained(now: last))
        let effects = machine.decide(now: last)
        guard case .read(let request) = effects.first else { return #expect(Bool(false)) }
        #expect(request.after == .none && request.lack == nil)
        machine.take(.read(JournalPage()), now: last)
        #expect(machine.lack == nil && machine.isDrained(now: last))
    }

    @Test("C13: after a removal the room is measured at once, before a run ends")
    func roomAfterRemoval() {
        var machine = Self.lackingMachine()
        machine.take(.removed([]), now: Self.now)
        #expect(!machine.isDrained(now: Self.now))
        #expect(Self.measures(machine.decide(now: Self.now)))
        machine.take(.measured(left: nil), now: Self.now)
        #expect(Self.reads(machine.decide(now: Self.now)))
    }

    @Test("C13: a removal that ends while the journal is read has the room measured too", arguments: [false, true])
    func roomAfterRemovalInRead(isStale: Bool) {
        var machine = Self.lackingMachine()
        let lack = machine.lack
        Self.tell(&machine, EngineFlags(hasNews: true, isStale: isStale))
        #expect(Self.reads(machine.decide(now: Self.now)))
        machine.take(.removed([]), now: Self.now)
        var page = JournalPage()
        page.lack = lack
        machine.take(.read(page), now: Self.now)
        #expect(!machine.isDrained(now: Self.now))
        #expect(Self.measures(machine.decide(now: Self.now)))
    }

    @Test("C13: a removal that ends while the room is measured has it measured once more")
    func roomAfterRemovalInMeasurement() {
        var machine = Self.lackingMachine()
        let later = Self.now + EngineMachine.roomInterval
        #expect(Self.measures(machine.decide(now: later)))
        machine.take(.removed([]), now: later)
        machine.take(.measured(left: 0), now: later)
        #expect(!machine.isDrained(now: later))
        #expect(Self.measures(machine.decide(now: later)))
    }

    @Test("C13: without a server the room is not measured, and does not keep a run from ending")
    func roomOffline() {
        var machine = Self.lackingMachine()
        machine.take(.removed([]), now: Self.now)
        Self.tell(&machine, EngineFlags(isOnline: false, hasNews: false, isStale: false))
        #expect(!Self.measures(machine.decide(now: Self.now)) && machine.isDrained(now: Self.now))
    }

    @Test(
        "Stale: what was handed out comes back, the journal is read from its beginning, and only then downloads go on")
    func stale() {
        var machine = Self.machine(having: [Self.job(1, "/a"), Self.job(2, "/b")])
        guard case .fetch(let jobs) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(jobs.map(\.id) == [1, 2])
        Self.tell(&machine, EngineFlags(hasNews: false, isStale: true))
        guard case .recall = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.recalled([jobs[1]]), now: Self.now)
        let effects = machine.decide(now: Self.now)
        guard case .read(let request) = effects.first else { return #expect(Bool(false)) }
        #expect(request.after == 0)
        // The first download is still under way and is not started again, whatever its position in the page.
        machine.take(.read(JournalPage(jobs: jobs, last: 2)), now: Self.now)
        guard case .fetch(let again) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(again.map(\.id) == [2])
    }

    @Test("S25: a record that ends while the journal is being read is not started again")
    func endedWhileReading() {
        let job = Self.job(1, "/a", .removeLocalCopy(restoringFormerTrigger: false))
        var machine = Self.machine(having: [job])
        #expect(machine.decide(now: Self.now).contains { if case .remove = $0 { true } else { false } })
        Self.tell(&machine, EngineFlags(hasNews: false, isStale: true))
        #expect(machine.decide(now: Self.now).contains { if case .read = $0 { true } else { false } })
        machine.take(.removed([RecordOutcome(record: 1, resolution: .ended)]), now: Self.now)
        machine.take(.read(JournalPage(jobs: [job], last: 1)), now: Self.now)
        #expect(machine.decide(now: Self.now).isEmpty && machine.isDrained(now: Self.now))
    }

    @Test("S25: a removal that may have to wait for another record does not start before the journal was read again")
    func removalOfOutdatedMemory() {
        let removal = Self.job(2, "/a", .removeLocalCopy(restoringFormerTrigger: false))
        var machine = EngineMachine(limits: Limits(downloads: 2))
        Self.tell(&machine, Self.quiet)
        #expect(machine.decide(now: Self.now).contains { if case .read = $0 { true } else { false } })
        // While the journal is read, the disk fails, and something changes in the journal.
        machine.take(.unrecorded(Failure(.localIO, "full"), record: 9), now: Self.now)
        Self.tell(&machine, EngineFlags(hasNews: false, isStale: true))
        machine.take(.read(JournalPage(jobs: [removal], last: 2)), now: Self.now)
        #expect(!machine.decide(now: Self.now).contains { if case .remove = $0 { true } else { false } })
        // When the failure is over, the journal is read, and then the removal starts.
        let later = Self.now + .seconds(1)
        #expect(machine.decide(now: later).contains { if case .read = $0 { true } else { false } })
        machine.take(.read(JournalPage(jobs: [removal], last: 2)), now: later)
        #expect(machine.decide(now: later).contains { if case .remove = $0 { true } else { false } })
    }

    @Test("Offline: nothing is fetched, copies are removed all the same, and a single run does not wait")
    func offline() {
        let jobs = [
            Self.job(1, "/a"), Self.job(2, "/b", .removeLocalCopy(restoringFormerTrigger: false)),
        ]
        var machine = Self.machine(having: jobs, EngineFlags(isOnline: false, hasNews: false, isStale: false))
        let effects = machine.decide(now: Self.now)
        #expect(effects.count == 1)
        guard case .remove(let removals) = effects.first else { return #expect(Bool(false)) }
        #expect(removals.map(\.id) == [2] && !machine.isDrained(now: Self.now))
        machine.take(.removed([RecordOutcome(record: 2, resolution: .ended)]), now: Self.now)
        #expect(machine.decide(now: Self.now).isEmpty && machine.isDrained(now: Self.now))
        Self.tell(&machine, Self.quiet)
        guard case .fetch(let downloads) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(downloads.map(\.id) == [1] && !machine.isDrained(now: Self.now))
    }

    @Test("Cancelled: a record that was taken away while it was fetched is over, whatever its request came to")
    func cancelled() {
        var machine = Self.machine(having: [Self.job(1, "/a"), Self.job(2, "/a")])
        guard case .fetch(let jobs) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(jobs.map(\.id) == [1])
        machine.take(.fetched(jobs[0], .cancelled), now: Self.now)
        // What waited behind it is read again: there may be a copy by now.
        guard case .recall = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.recalled([]), now: Self.now)
        guard case .read = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.read(JournalPage(jobs: [Self.job(2, "/a")], last: 2)), now: Self.now)
        guard case .fetch(let next) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(next.map(\.id) == [2])
    }

    @Test("A download that could not be started is looked at again, though nobody says anything")
    func notStarted() {
        var machine = Self.machine(having: [Self.job(1, "/a")])
        guard case .fetch(let jobs) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.fetched(jobs[0], .notStarted), now: Self.now)
        guard case .recall = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.recalled([]), now: Self.now)
        guard case .read(let request) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(request.after == 0 && !machine.isDrained(now: Self.now))
    }

    @Test("Stuck: on a full disk a single run ends, with what could not be put in place, and a running one tries again")
    func stuck() {
        var machine = Self.machine(having: [Self.job(1, "/a")])
        guard case .fetch(let jobs) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.fetched(jobs[0], .failed(.disk(Failure(.localIO, "full")))), now: Self.now)
        guard case .recall = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(.recalled([]), now: Self.now)
        let effects = machine.decide(now: Self.now)
        #expect(effects.contains { if case .recordFailure = $0 { true } else { false } })
        #expect(!machine.isDrained(now: Self.now))
        machine.take(.recorded(RecordOutcome(record: 1, resolution: .putBack)), now: Self.now)
        #expect(machine.isDrained(now: Self.now))
        guard let end = machine.health.hold?.until else { return #expect(Bool(false)) }
        Self.tell(&machine, at: end, Self.quiet)
        #expect(machine.decide(now: end).contains { if case .read = $0 { true } else { false } })
    }

    @Test("Who is in the tree has it alone, also when the disk is well again meanwhile")
    func visited() {
        var machine = EngineMachine(limits: Limits(downloads: 2))
        let job = Self.job(1, "/a")
        let mark = FileMark(inode: 1, size: 1, modified: Self.now, changed: Self.now, recorded: Self.now)
        let landing = Landing(etag: job.version, digest: [], size: 1, modified: nil)
        machine.take(.recovered(.placed(Placed(job: job, path: job.path, landing: landing, mark: mark))), now: Self.now)
        machine.take(.unread(Failure(.localIO, "full")), now: Self.now)
        guard let end = machine.health.hold?.until else { return #expect(Bool(false)) }
        func told(_ treeAccess: TreeAccess.State) -> EngineMachine.Input {
            .told(Self.quiet, treeAccess: treeAccess, hasUnmarked: false)
        }
        machine.take(told(.requested), now: Self.now)
        guard case .grantTree = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        machine.take(told(.granted), now: end)
        #expect(!machine.decide(now: end).contains { if case .land = $0 { true } else { false } })
        machine.take(told(.none), now: end)
        #expect(machine.decide(now: end).contains { if case .land = $0 { true } else { false } })
    }

    @Test("News that come while the journal is read count when it was read")
    func newsWhileReading() {
        var machine = EngineMachine(limits: Limits(downloads: 2))
        _ = machine.decide(now: Self.now)
        Self.tell(&machine, EngineFlags(hasNews: true, isStale: false))
        #expect(machine.decide(now: Self.now).isEmpty)
        machine.take(.read(JournalPage(last: 7)), now: Self.now)
        #expect(!machine.isDrained(now: Self.now))
        guard case .read(let request) = machine.decide(now: Self.now).first else { return #expect(Bool(false)) }
        #expect(request.after == 7 && request.readsOn)
    }
}
