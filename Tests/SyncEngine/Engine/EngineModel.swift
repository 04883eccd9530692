import Database
import Model
import TestSupport

@testable import LocalTree
@testable import SyncEngine

/// A simulated journal, server, disk and users around an ``EngineMachine``. All of them are values that a seed
/// reproduces.
///
/// The model carries out the machine's effects in any possible order and lets each succeed or fail. It records the
/// machine's contradictions in ``contradictions``.
struct EngineModel {
    struct Entry {
        var journal: SyncRecord
        var item: Item
        /// Whether the entry's file is being put into the tree.
        var isLanding = false
        var isMarked = false
        var id: SyncRecordID { journal.id }
        var job: Job { Job(journal, item: item) }
        var waitsForPeople: Bool {
            switch journal.wait {
            case .issue, .place: true
            default: false
            }
        }
    }

    private enum Reading {
        case asked(JournalRequest)
        case answered(EngineMachine.Input)
    }

    private enum TreeWork {
        case land(Arrivals, completing: InPlace)
        case remove([Job])
    }

    var machine: EngineMachine
    var random: SeededGenerator
    private(set) var now = Timestamp(seconds: 1_000)
    private(set) var journal: [SyncRecordID: Entry] = [:]
    private(set) var contradictions: [String] = []
    /// Whether failures and new requests have ended.
    private(set) var isCalm = false

    private let limits: Limits
    private var nextID: SyncRecordID = 1
    private var flags = EngineFlags()
    private var suspended: Set<SyncRecordID> = []
    private var handed: [Job] = []
    private var fetching: [SyncRecordID: Job] = [:]
    /// A batch of downloads that was handed out.
    private struct Batch {
        var batch: DownloadBatch
        /// The files that were not started.
        var rest: [Int]
        var underWay: Set<Int> = []
    }

    private var batches: [Batch] = []
    /// The downloads of batches that go on alone.
    private var alone: [SyncRecordID: Job] = [:]
    private let takesBatches: Bool
    /// The changes of the server that are under way.
    private var changing: [SyncRecordID: Job] = [:]
    private var cancelled: Set<SyncRecordID> = []
    /// The request for a journal page that is under way, or its answer before the machine has received it.
    private var reading: Reading?
    private var treeWork: TreeWork?
    private var isListing: [SyncRecordID]?
    private var settling: [(job: Job, decision: RetryDecision, failure: FetchFailure)] = []
    private var wakes: [Timestamp] = []
    private var visitors = TreeAccess.State.none
    /// Whether there is room for no other download.
    private var isDiskTight = false
    /// The downloads for which a page had no room.
    private var lacking: Set<SyncRecordID> = []
    private var isMeasuring = false

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        limits = Limits(
            downloads: .random(in: 1...4, using: &random), uploads: .random(in: 1...3, using: &random),
            actions: .random(in: 1...3, using: &random))
        machine = EngineMachine(limits: limits)
        takesBatches = .random(using: &random)
    }

    // MARK: Course

    /// Carries out one random event that is possible now.
    mutating func step() {
        let events = possible()
        guard let event = events.randomElement(using: &random) else { return }
        event(&self)
        // In half of the cases another event follows before the machine is asked.
        if Bool.random(using: &random) { act() }
    }

    /// Carries out the remaining work without failures until the machine is drained.
    /// - Returns: Whether the machine was drained.
    mutating func settleDown() -> Bool {
        isCalm = true
        visitors = .none
        isDiskTight = false
        // The model sets only the flags that the machine cannot find out by itself.
        (flags.isOnline, flags.expectsMore) = (true, false)
        if machine.health.isAccountRefused { flags.isReset = true }
        answerPeople()
        act()
        for _ in 0..<5_000 {
            if isDrained, journal.isEmpty { return true }
            let event: Event
            if let next = possible().randomElement(using: &random) {
                event = next
            } else if waitsForPeople {
                event = { $0.answerPeople() }
            } else {
                return false
            }
            event(&self)
            act()
        }
        return false
    }

    /// Whether the machine is drained and no new flag waits for it, which is the test that ``EngineRun`` applies.
    var isDrained: Bool {
        machine.isDrained(now: now) && !flags.hasNews && !flags.isStale && !flags.isReset
    }

    private typealias Event = (inout EngineModel) -> Void

    private mutating func possible() -> [Event] {
        var events: [Event] = []
        if !handed.isEmpty, fetching.count < limits.downloads! { events += [{ $0.startFetch() }, { $0.startFetch() }] }
        if let id = fetching.keys.sorted().randomElement(using: &random) {
            events += [{ $0.endFetch(id) }, { $0.endFetch(id) }]
        }
        if let index = batches.indices.randomElement(using: &random) {
            events += [{ $0.goOn(withBatch: index) }, { $0.goOn(withBatch: index) }, { $0.goOn(withBatch: index) }]
        }
        if let id = alone.keys.sorted().randomElement(using: &random) {
            events += [{ $0.endAlone(id) }, { $0.endAlone(id) }]
        }
        if let id = changing.keys.sorted().randomElement(using: &random) {
            events += [{ $0.endChange(id) }, { $0.endChange(id) }]
        }
        if reading != nil { events += [{ $0.readOn() }, { $0.readOn() }] }
        if treeWork != nil { events += [{ $0.endTreeWork() }, { $0.endTreeWork() }] }
        if isListing != nil { events.append { $0.endListing() } }
        if !settling.isEmpty { events.append { $0.endSettling() } }
        if !wakes.isEmpty { events.append { $0.sleep() } }
        if isMeasuring { events.append { $0.endMeasuring() } }
        guard !isCalm else { return events }
        events.append { model in
            let seconds = Double.random(in: 0...3, using: &model.random)
            model.now = model.now + .seconds(seconds)
        }
        if journal.count < 30 { events += [{ $0.ask() }, { $0.ask() }, { $0.ask() }] }
        if let id = journal.keys.sorted().randomElement(using: &random) { events.append { $0.cancel(id) } }
        if Int.random(in: 0..<4, using: &random) == 0 {
            events += [
                { $0.flags.isOnline.toggle() }, { $0.flags.expectsMore.toggle() }, { $0.flags.isReset = true },
                { $0.flags.isStale = true }, { $0.answerPeople() }, { $0.isDiskTight.toggle() },
            ]
            events.append { $0.visitors = $0.visitors == .none ? .requested : .none }
        }
        return events
    }

    // MARK: The machine

    private mutating func take(_ input: EngineMachine.Input) { machine.take(input, now: now) }

    private mutating func act() {
        take(
            .told(
                flags, treeAccess: visitors,
                hasUnmarked: journal.values.contains { !$0.isMarked && fetching[$0.id] != nil },
                takesBatches: takesBatches))
        (flags.hasNews, flags.isStale, flags.isReset) = (false, false, false)
        for effect in machine.decide(now: now) {
            guard case .recall = effect else {
                carryOut(effect)
                continue
            }
            let recalled = handed
            handed = []
            let batched = batches.flatMap { batch in batch.rest.map { batch.batch.entries[$0].record } }
            for index in batches.indices { batches[index].rest = [] }
            take(.recalled(recalled, batched: batched))
            for effect in machine.decide(now: now) {
                if case .recall = effect { contradictions.append("recalls twice") } else { carryOut(effect) }
            }
        }
    }

    private mutating func carryOut(_ effect: EngineMachine.Effect) {
        switch effect {
        case .recall: break
        case .fetch(let jobs):
            for job in jobs {
                begin(job, "fetch")
                handed.append(job)
            }
            if handed.count + fetching.count > limits.downloads! + EngineMachine.handedAhead {
                contradictions.append("hands out too many")
            }
        case .fetchBatch(let batch):
            for entry in batch.entries {
                guard let job = journal[entry.record]?.job else {
                    if !suspended.contains(entry.record) {
                        contradictions.append("fetch of \(entry.record), which has ended")
                    }
                    continue
                }
                begin(job, "batched fetch")
            }
            batches.append(Batch(batch: batch, rest: Array(batch.entries.indices)))
        case .change(let jobs):
            for job in jobs {
                begin(job, "change")
                changing[job.id] = job
            }
            let uploads = changing.values.count { $0.record.action.kind == .upload }
            if uploads > limits.uploads! || changing.count - uploads > limits.actions {
                contradictions.append("changes too much at a time")
            }
        case .read(let request):
            if reading != nil { contradictions.append("reads twice at a time") }
            markStarted()
            reading = .asked(request)
        case .recordFailure(let job, let decision, let failure, _): settling.append((job, decision, failure))
        case .land(let batch, let completing):
            if treeWork != nil || visitors == .granted { contradictions.append("lands while the tree is another's") }
            markStarted()
            treeWork = .land(batch, completing: completing)
        case .remove(let jobs):
            if treeWork != nil || visitors == .granted { contradictions.append("removes while the tree is another's") }
            for job in jobs { begin(job, "remove") }
            treeWork = .remove(jobs)
        case .relist(let folders):
            if isListing != nil { contradictions.append("lists twice at a time") }
            isListing = folders.values.flatMap { $0 }
        case .measureRoom:
            if isMeasuring { contradictions.append("measures twice at a time") }
            if lacking.isEmpty { contradictions.append("measures for nobody") }
            isMeasuring = true
        case .grantTree:
            if treeWork != nil || !machine.inPlace.isEmpty && machine.health.hold?.failure.kind != .localIO {
                contradictions.append("admits visitors to a tree that is not at rest")
            }
            if visitors == .requested { visitors = .granted }
        case .wake(let time):
            if time <= now { contradictions.append("wakes in the past") }
            wakes.append(time)
        }
    }

    /// Checks a record that the machine starts. Notes a contradiction if the record or another record of its item is
    /// under way, if the record has ended, or if an earlier record of the item holds the lane.
    private mutating func begin(_ job: Job, _ what: String) {
        let underWay = handed + Array(fetching.values) + Array(changing.values) + Array(alone.values) + inBatches
        if underWay.contains(where: { $0.id == job.id }) { contradictions.append("\(what) of \(job.id) twice") }
        if underWay.contains(where: { $0.record.localID == job.record.localID }) {
            contradictions.append("\(what) of \(job.id) while its item is under way")
        }
        guard !suspended.contains(job.id) else { return }
        guard journal[job.id] != nil else { return contradictions.append("\(what) of \(job.id), which has ended") }
        // The machine does not know yet what changed after it read the journal, so records suspended since then do not
        // count.
        let isOvertaken = journal.values.contains {
            $0.id < job.id && !suspended.contains($0.id) && !lacking.contains($0.id)
                && $0.journal.localID == job.record.localID
                && $0.journal.holdsLane
        }
        if isOvertaken { contradictions.append("\(what) of \(job.id) out of its turn") }
    }

    /// The downloads of batches that were handed out and are not done.
    private var inBatches: [Job] {
        batches.flatMap { batch in
            (batch.rest + batch.underWay).compactMap { journal[batch.batch.entries[$0].record]?.job }
        }
    }

    private mutating func markStarted() {
        for id in fetching.keys { journal[id]?.isMarked = true }
    }

    // MARK: Downloads

    private mutating func startFetch() {
        let job = handed.removeFirst()
        guard flags.isOnline, !flags.isStale, !suspended.contains(job.id) else {
            return take(.fetched(job, .notStarted))
        }
        fetching[job.id] = job
    }

    private mutating func endFetch(_ id: SyncRecordID) {
        guard let job = fetching.removeValue(forKey: id) else { return }
        let failure = isCalm || Int.random(in: 0..<3, using: &random) > 0 ? nil : randomFailure()
        if let failure {
            take(.fetched(job, cancelled.remove(id) == nil ? .failed(failure) : .cancelled))
        } else {
            cancelled.remove(id)
            take(.fetched(job, .complete(Fetched(job: job, file: file(of: id), version: job.version))))
        }
    }

    /// Starts or ends a download of a batch, or ends the batch.
    private mutating func goOn(withBatch index: Int) {
        if batches[index].rest.isEmpty, batches[index].underWay.isEmpty {
            batches.remove(at: index)
            return take(.batchEnded(wasTaken: isCalm || Int.random(in: 0..<20, using: &random) > 0))
        }
        let batch = batches[index].batch
        let starts = !batches[index].rest.isEmpty && batches[index].underWay.count < limits.downloads!
        if starts, batches[index].underWay.isEmpty || Bool.random(using: &random) {
            let file = batches[index].rest.removeFirst()
            let id = batch.entries[file].record
            guard flags.isOnline, !flags.isStale, !suspended.contains(id) else {
                return take(.batched([.returned(id)]))
            }
            batches[index].underWay.insert(file)
        } else if let file = batches[index].underWay.sorted().randomElement(using: &random) {
            batches[index].underWay.remove(file)
            let id = batch.entries[file].record
            if cancelled.remove(id) != nil, Bool.random(using: &random) { return take(.batched([.cancelled(id)])) }
            switch isCalm ? 0 : Int.random(in: 0..<8, using: &random) {
            case 1: take(.batched([.returned(id)]))
            case 2, 3:
                // The answer is judged where the record and the item are read again.
                take(.batched([.goesOn(id, concernsAll: Bool.random(using: &random))]))
                if let job = journal[id]?.job { alone[id] = job } else { take(.gone(id)) }
            default:
                let mark = self.file(of: id).mark
                take(
                    .batched([
                        .complete(
                            BatchArrival(
                                batch: batch, file: file,
                                result: IncomingResult(digest: .init(), mark: mark, failures: 0)))
                    ]))
            }
        }
    }

    private mutating func endAlone(_ id: SyncRecordID) {
        guard let job = alone.removeValue(forKey: id) else { return }
        fetching[id] = job
        endFetch(id)
    }

    // MARK: Changes

    /// Ends a change. The server's answer to an upload makes the record that of a complete download.
    private mutating func endChange(_ id: SyncRecordID) {
        guard let job = changing.removeValue(forKey: id) else { return }
        func resolved(_ resolution: RecordOutcome.Resolution) -> EngineMachine.Input {
            .changed(job, .resolved(RecordOutcome(record: id, resolution: resolution)))
        }
        guard journal[id] != nil, !suspended.contains(id) else { return take(resolved(.stale)) }
        switch isCalm ? 0 : Int.random(in: 0..<8, using: &random) {
        case 1, 2: take(.changed(job, .failed(randomFailure())))
        case 3: take(resolved(.stale))
        case 4:
            let until = now + .seconds(60)
            journal[id]?.journal.wait = .until(until)
            take(resolved(.waits(until: until)))
        default:
            guard job.record.action.kind == .upload else {
                journal[id] = nil
                return take(resolved(.ended))
            }
            journal[id]?.journal.action = .download
            guard let entry = journal[id] else { return }
            let landing = entry.job
            guard Bool.random(using: &random) else {
                return take(
                    .changed(job, .uploaded(Fetched(job: landing, file: file(of: id), version: landing.version))))
            }
            var builder = DownloadBatch.Builder(coverage: nil)
            add(entry, to: &builder)
            guard let batch = builder.batch else { return }
            let result = IncomingResult(digest: .init(), mark: file(of: id).mark, failures: 0)
            let arrival = BatchArrival(batch: batch, file: 0, result: result, isUploaded: true)
            take(.changed(job, .uploadedTogether(arrival)))
        }
    }

    private func file(of id: SyncRecordID) -> CompletedFile {
        let mark = FileMark(inode: 1, size: 1, modified: now, changed: now, recorded: now)
        return CompletedFile(name: "\(id)", digest: [], others: [:], mark: mark)
    }

    private mutating func randomFailure() -> FetchFailure {
        let failure = Failure(.failed, "by chance")
        return [
            .unreachable(Failure(.unreachable, "away")), .server(failure, retryAfter: nil),
            .server(failure, retryAfter: .seconds(2)), .brokenOff(failure, gained: true),
            .brokenOff(failure, gained: false), .wrongChecksum(failure), .changed(failure), .gone(failure),
            .account(Failure(.denied, "refused")), .refused(failure), .disk(Failure(.localIO, "full")),
            .place(failure), .cancelled,
        ].randomElement(using: &random) ?? .cancelled
    }

    private mutating func endSettling() {
        let index = settling.indices.randomElement(using: &random) ?? 0
        let (job, decision, failure) = settling.remove(at: index)
        guard isCalm || Int.random(in: 0..<10, using: &random) > 0 else {
            return take(.unrecorded(Failure(.localIO, "full"), record: job.id))
        }
        take(.recorded(resolve(job, decision, failure.failure)))
    }

    private mutating func resolve(_ job: Job, _ decision: RetryDecision, _ failure: Failure) -> RecordOutcome {
        guard journal[job.id] != nil else { return RecordOutcome(record: job.id, resolution: .ended) }
        journal[job.id]?.isLanding = false
        switch decision {
        case .wait(let until, let attempts):
            journal[job.id]?.journal.wait = .until(until)
            journal[job.id]?.journal.attempts = attempts
            return RecordOutcome(record: job.id, resolution: .waits(until: until), failure: failure)
        case .relist(let rounds):
            journal[job.id]?.journal.wait = .newVersion(since: job.version, until: now + .seconds(60))
            journal[job.id]?.journal.rounds = rounds
            return RecordOutcome(record: job.id, resolution: .relist(job.path.parent), failure: failure)
        case .retry(let time, let attempts):
            journal[job.id]?.journal.wait = .retry(at: time, 1)
            journal[job.id]?.journal.attempts = attempts
            return RecordOutcome(record: job.id, resolution: .waits(until: time), failure: failure)
        case .ask:
            journal[job.id]?.journal.wait = .issue(1)
            return RecordOutcome(record: job.id, resolution: .waits(until: nil), failure: failure)
        case .hold(let wait):
            journal[job.id]?.journal.wait = wait
            return RecordOutcome(record: job.id, resolution: .stale, failure: failure)
        case .putBack: return RecordOutcome(record: job.id, resolution: .putBack, failure: failure)
        }
    }

    private mutating func endListing() {
        for id in isListing ?? [] {
            guard case .newVersion = journal[id]?.journal.wait else { continue }
            journal[id]?.journal.wait = .until(now + .seconds(1))
        }
        isListing = nil
        take(.relisted)
    }

    // MARK: The journal

    private mutating func readOn() {
        switch reading {
        case .answered(let answer):
            reading = nil
            take(answer)
        case .asked(let request):
            let fails = !isCalm && Int.random(in: 0..<20, using: &random) == 0
            reading = .answered(fails ? .unread(Failure(.localIO, "full")) : .read(page(request)))
        case nil: break
        }
    }

    /// Returns a page as the engine's journal does, with a few records per page.
    private mutating func page(_ request: JournalRequest) -> JournalPage {
        if request.after == 0 {
            suspended = []
            lacking = []
            for id in journal.keys {
                switch journal[id]?.journal.wait {
                case .until(let time) where time <= now, .newVersion(_, let time) where time <= now,
                    .retry(let time, _) where time <= now:
                    journal[id]?.journal.wait = nil
                default: break
                }
            }
        }
        let size = Int.random(in: 1...6, using: &random)
        var page = JournalPage(last: request.after, isLast: false)
        page.lack = request.lack
        let all = journal.keys.sorted().compactMap { journal[$0] }
        if request.readsOn {
            let found = all.filter { $0.id > request.after }
            var batch = DownloadBatch.Builder(coverage: nil)
            for entry in found.prefix(size) where entry.journal.holdsLane {
                if request.takesBatch, isOrdinary(entry), !lacksRoom(entry) {
                    add(entry, to: &batch)
                    continue
                }
                guard lacksRoom(entry) else {
                    page.jobs.append(entry.job)
                    continue
                }
                lacking.insert(entry.id)
                var lack = page.lack ?? RoomLack()
                lack.add(size: 1, missing: 1)
                page.lack = lack
            }
            page.batch = batch.batch
            page.last = found.prefix(size).last?.id ?? request.after
            page.isLast = found.count <= size
        }
        page.lastRemoval = max(page.last, request.removalsAfter)
        if !page.isLast {
            let removals = all.filter { $0.id > page.lastRemoval && $0.journal.action.kind.isRemoval }
            for one in removals.prefix(size) {
                page.lastRemoval = one.id
                let isFirst = all.first { $0.journal.localID == one.journal.localID }?.id == one.id
                if isFirst { page.jobs.append(one.job) }
            }
            page.isLastRemoval = removals.count <= size
        }
        page.earliestWait = all.compactMap { entry -> Timestamp? in
            switch entry.journal.wait {
            case .until(let time), .newVersion(_, let time), .retry(let time, _): time
            default: nil
            }
        }.min()
        return page
    }

    /// Tells whether a download is ordinary, as the engine's journal does.
    private func isOrdinary(_ entry: Entry) -> Bool {
        let record = entry.journal
        guard record.action == .download, record.wait == nil, record.attempts == 0, record.rounds == 0, !entry.isLanding
        else { return false }
        return !journal.values.contains { other in
            other.id != record.id
                && (other.journal.localID == record.localID
                    || other.journal.action.kind.changesServer
                        && (other.journal.path == record.path || other.journal.action.otherPath == record.path))
        }
    }

    private func add(_ entry: Entry, to batch: inout DownloadBatch.Builder) {
        var path = entry.item.path.text
        path.withUTF8 { path in
            _ = batch.add(
                .init(
                    record: entry.id, item: entry.item.databaseID, localID: entry.item.localID, lastModified: now,
                    reason: .user, whileCovered: false),
                path: UnsafeRawBufferPointer(path), version: UnsafeRawBufferPointer(start: nil, count: 0), size: 1)
        }
    }

    private func lacksRoom(_ entry: Entry) -> Bool {
        isDiskTight && entry.journal.action == .download && entry.journal.wait == nil && !entry.isLanding
            && fetching[entry.id] == nil && !handed.contains { $0.id == entry.id } && alone[entry.id] == nil
            && !inBatches.contains { $0.id == entry.id }
    }

    private mutating func endMeasuring() {
        isMeasuring = false
        take(.measured(left: isDiskTight ? 0 : nil))
    }

    private mutating func ask() {
        let number = Int.random(in: 0..<12, using: &random)
        let path = ItemPath(unchecked: "/d\(number % 3)/f\(number)")
        var item = Item(localID: LocalID("\(number)"), fileID: FileID("\(number)"), path: path, kind: .file)
        item.etag = ETag(opaque: "1", strength: .strong)
        item.databaseID = ItemRowID(Int64(number) + 1)
        let upload = Upload(snapshot: "\(nextID)", size: 1, digest: [], sha1: [], modified: nil, isNew: false)
        let action =
            [
                SyncRecord.Action.download, .download, .removeLocalCopy(restoringFormerTrigger: false),
                .upload(upload), .setFavorite(true), .setModificationTime(now, former: nil),
                .copy(from: ItemPath(unchecked: "/d\(number % 2)/f1")),
            ].randomElement(using: &random) ?? .download
        let record = SyncRecord(
            id: nextID, action: action, state: .ready, localID: item.localID, path: path, reason: .user, since: now)
        journal[nextID] = Entry(journal: record, item: item)
        nextID = nextID.advanced(by: 1)
        flags.hasNews = true
    }

    private mutating func cancel(_ id: SyncRecordID) {
        guard journal[id]?.isLanding == false else { return }
        // An arrived change is done whatever becomes of its record.
        guard changing[id] == nil || Bool.random(using: &random) else { return }
        journal[id] = nil
        suspended.insert(id)
        flags.isStale = true
        let isBatched = batches.contains { batch in
            batch.underWay.contains { batch.batch.entries[$0].record == id }
        }
        if fetching[id] != nil || alone[id] != nil || isBatched { cancelled.insert(id) }
    }

    private var waitsForPeople: Bool { journal.values.contains(where: \.waitsForPeople) }

    private mutating func answerPeople() {
        for id in journal.keys where journal[id]?.waitsForPeople == true {
            journal[id]?.journal.wait = nil
            suspended.insert(id)
            flags.isStale = true
        }
    }

    // MARK: The tree

    private mutating func endTreeWork() {
        guard let work = treeWork else { return }
        treeWork = nil
        switch work {
        case .land(let batch, let completing): take(.landed(batch, land(batch, completing)))
        case .remove(let jobs): take(.removed(jobs.map { remove($0) }))
        }
    }

    private mutating func land(_ batch: Arrivals, _ completing: InPlace) -> LandingOutcome {
        var outcome = LandingOutcome()
        if !isCalm, Int.random(in: 0..<8, using: &random) == 0 {
            outcome.failure = Failure(.localIO, "full")
            return outcome
        }
        for file in completing.batched {
            if journal[file.arrival.record]?.isLanding == false {
                contradictions.append("completes \(file.arrival.record) twice")
            }
            journal[file.arrival.record] = nil
            outcome.completed.append(file.arrival.record)
        }
        for arrival in batch.batched {
            let id = arrival.record
            guard journal[id] != nil else {
                outcome.outcomes.append(RecordOutcome(record: id, resolution: .ended))
                continue
            }
            switch isCalm ? 0 : Int.random(in: 0..<10, using: &random) {
            case 1: outcome.outcomes.append(RecordOutcome(record: id, resolution: .stale))
            case 2:
                guard let job = journal[id]?.job else { continue }
                let decision = RetryDecision.wait(until: now + .seconds(5), attempts: 1)
                outcome.outcomes.append(resolve(job, decision, Failure(.failed, "in use")))
            default:
                journal[id]?.isLanding = true
                outcome.batched.append(BatchPlaced(arrival: arrival, mark: arrival.result.mark))
            }
        }
        for file in completing.files {
            if journal[file.job.id]?.isLanding == false { contradictions.append("completes \(file.job.id) twice") }
            journal[file.job.id] = nil
            outcome.outcomes.append(RecordOutcome(record: file.job.id, resolution: .ended))
        }
        for fetched in batch.files {
            let job = fetched.job
            guard journal[job.id] != nil else {
                outcome.outcomes.append(RecordOutcome(record: job.id, resolution: .ended))
                continue
            }
            switch isCalm ? 0 : Int.random(in: 0..<10, using: &random) {
            case 1: outcome.outcomes.append(RecordOutcome(record: job.id, resolution: .stale))
            case 2:
                let decision = RetryDecision.wait(until: now + .seconds(5), attempts: 1)
                outcome.outcomes.append(resolve(job, decision, Failure(.failed, "in use")))
            case 3: outcome.outcomes.append(resolve(job, .ask(.place), Failure(.failed, "modified")))
            default:
                journal[job.id]?.isLanding = true
                let landing = fetched.landing
                outcome.placed.append(
                    Placed(job: job, path: job.path, landing: landing, mark: fetched.file.mark))
            }
        }
        return outcome
    }

    private mutating func remove(_ job: Job) -> RecordOutcome {
        guard journal[job.id] != nil else { return RecordOutcome(record: job.id, resolution: .ended) }
        switch isCalm ? 0 : Int.random(in: 0..<6, using: &random) {
        case 1: return RecordOutcome(record: job.id, resolution: .stale)
        case 2:
            return resolve(job, .wait(until: now + .seconds(30), attempts: 1), Failure(.failed, "in use"))
        default:
            journal[job.id] = nil
            return RecordOutcome(record: job.id, resolution: .ended)
        }
    }

    // MARK: Time

    private mutating func sleep() {
        guard let next = wakes.min(), let index = wakes.firstIndex(of: next) else { return }
        wakes.remove(at: index)
        now = max(now, next)
        take(.woke)
    }
}
