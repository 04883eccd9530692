import Connection
import Database
import LocalTree
import Model

/// A state machine that decides what the engine does next. It takes inputs, which say what has happened, and returns
/// effects, which say what must be done.
///
/// The machine is a value without I/O, clock or randomness. Its driver passes it inputs, then calls ``decide(now:)``,
/// carries out the returned effects, and passes their results back as inputs.
struct EngineMachine: Sendable {
    /// An event that the machine learns of.
    enum Input: Sendable {
        /// The flags and the state that other parts set since the machine was last told.
        case told(
            EngineFlags, treeAccess: TreeAccess.State, hasUnmarked: Bool, takesBatches: Bool = false,
            uploads: UploadsAtOnce = UploadsAtOnce())
        /// A download that was complete when the host ended.
        case recovered(RecoveredLanding)
        /// The jobs that were handed out and not started, in their order.
        /// - Parameter batched: The downloads of batches that were handed out and not started.
        case recalled([Job], batched: [SyncRecordID] = [])
        /// Outcomes of downloads of batches.
        case batched([BatchOutcome])
        /// The end of a batch.
        /// - Parameter wasTaken: Whether files can be requested in batches now.
        case batchEnded(wasTaken: Bool)
        /// A download of a batch whose record is gone.
        case gone(SyncRecordID)
        case fetched(Job, FetchOutcome)
        case changed(Job, ChangeOutcome)
        /// An upload of a batch that goes on alone, and whose answer may be that of all others too. Its outcome comes as
        /// `changed`.
        case uploadGoesOn(SyncRecordID)
        case read(JournalPage)
        /// A failure to read the journal.
        case unread(Failure)
        case recorded(RecordOutcome)
        /// A failure to record what follows for a record. The record is as it was.
        case unrecorded(Failure, record: SyncRecordID)
        case landed(Arrivals, LandingOutcome)
        case removed([RecordOutcome])
        case relisted
        /// The bytes that downloads may still take, as just measured; nil if there is no limit.
        case measured(left: Int64?)
        /// The arrival of the time that ``Effect/wake(at:)`` named.
        case woke
    }

    /// An order to the driver. The result of the order is an input.
    enum Effect: Sendable {
        /// The immediate recall of the jobs that were handed out and not started. Answered by `recalled`.
        case recall
        /// Downloads to hand out, behind those that were handed out before. Answered by `fetched` for each download
        /// that is not recalled.
        case fetch([Job])
        /// A batch of downloads to request. Answered by `batched` for each download that is not recalled, and by
        /// `batchEnded`.
        case fetchBatch(DownloadBatch)
        /// Changes of the server to be made. Answered by `changed` for each.
        case change([Job])
        /// A read of the journal. Answered by `read` or `unread`.
        case read(JournalRequest)
        /// The consequences of a failed download, to be written down. Answered by `recorded` or `unrecorded`.
        case recordFailure(Job, RetryDecision, FetchFailure, tellsOfAccount: Bool)
        /// Complete downloads to put in place, and files in place whose items are to be completed. Answered by
        /// `landed`.
        case land(Arrivals, completing: InPlace)
        /// A removal of copies. Answered by `removed`.
        case remove([Job])
        /// Folders to be listed again, for the records that wait for the listings. Answered by `relisted`.
        case relist([ItemPath: [SyncRecordID]])
        /// A measurement of the room for downloads. Answered by `measured`.
        case measureRoom
        /// The grant of the tree to the tasks that need exclusive access to it.
        case grantTree
        /// A time at which to wake the machine. Answered by `woke`. An earlier wake that is still to come is not taken
        /// back.
        case wake(at: Timestamp)
    }

    /// The state of the part of the journal that is in memory.
    enum Memory: Hashable, Sendable {
        case current
        /// A memory for which the journal must be read from its beginning.
        case outdated
        /// A memory that is being read.
        /// - Parameters:
        ///   - ended: The records that ended since the read of the page began, and that may still be on the page.
        ///   - next: What to do after the read, because of news that came during it.
        case reading(ended: Set<SyncRecordID>, next: AfterReading)
    }

    /// The next step when the journal has been read. News that come during a read may concern a part that was already
    /// read, so the news count after the read.
    enum AfterReading: Hashable, Sendable { case goOn, readOn, beginAnew }

    /// The position up to which the journal was read.
    enum Place: Hashable, Sendable {
        /// A record behind which there may be more records.
        case after(SyncRecordID)
        /// A record behind which there was no other record.
        case end(SyncRecordID)

        var record: SyncRecordID {
            switch self {
            case .after(let record), .end(let record): record
            }
        }
        var isEnd: Bool { if case .end = self { true } else { false } }
    }

    /// The work in the tree. At most one piece of work is under way at a time.
    enum TreeWork: Hashable, Sendable {
        case none
        /// A landing of files.
        /// - Parameter completes: Whether the landing also completes the items of files that already are in place.
        case landing(completes: Bool)
        case removing
    }

    enum Relisting: Hashable, Sendable {
        case none
        /// - Parameter next: The folders to list after those under way.
        case underWay(next: [ItemPath: [SyncRecordID]])
    }

    /// What became of a download of a batch.
    enum BatchOutcome: Sendable {
        case complete(BatchArrival)
        /// A download that goes on alone. Its outcome comes as `fetched`, or as `gone`.
        /// - Parameter concernsAll: Whether its answer may be that of all others too.
        case goesOn(SyncRecordID, concernsAll: Bool)
        /// A download that was not started, or was ended for another reason than its own.
        case returned(SyncRecordID)
        /// A download whose record was taken away.
        case cancelled(SyncRecordID)
    }

    private(set) var window: Window
    private(set) var batches = OpenBatches()
    private(set) var health: ServerHealth

    // The state that other parts told the machine.
    private var isOnline = true
    private var expectsMore = false
    private var treeAccess = TreeAccess.State.none
    private var hasUnmarked = false
    private var takesBatches = false
    /// The uploads whose answers may be those of all others too, and are being judged.
    private var judgedUploads: Set<SyncRecordID> = []
    /// The time until which no batch is read, since the last one was not taken.
    private var batchesAgainAt: Timestamp?

    // The journal.
    private var memory = Memory.outdated
    private var journal = Place.after(.none)
    /// The same for removals, which are read ahead of downloads.
    private var removals = Place.after(.none)
    /// The time when started records are marked as started, even if the journal is not read for another reason.
    private var marksAt: Timestamp?
    /// The time when a waiting record may go on.
    private var nextWait: Timestamp?
    /// The time when the journal was read last.
    private var lastRead: Timestamp?
    /// The time when the journal is read on because of news that came soon after the last read.
    private var readsOnAt: Timestamp?
    /// Whether downloads were handed out since they were last recalled.
    private var hasHandedOut = false

    // The room.
    /// The downloads that wait for room; nil if none does.
    private(set) var lack: RoomLack?
    /// The time when the room is measured again if downloads wait for it.
    private var measuresRoomAt: Timestamp?
    private var isMeasuringRoom = false

    // The files on their way into the tree.
    private var treeWork = TreeWork.none
    private(set) var arrivals = Arrivals()
    private(set) var inPlace = InPlace()
    /// Whether the last try to put files in place, or to complete the files in place, failed on the disk.
    private var isLandingStuck = false

    private var relisting = Relisting.none
    /// The effects that inputs call for, in addition to those that follow from the state.
    private var due: [Effect] = []
    /// The time when ``Input/woke`` comes next.
    private var wakesAt: Timestamp?

    /// The number of removals that share a transaction: as many as a plugin's run asks for in one transaction. Removals
    /// are local and carried out one after the other.
    static let removalsAtOnce = 1_000
    /// The number of downloads that are handed out in addition to those under way. It exceeds the number of downloads
    /// that end while outcomes are gathered.
    static let handedAhead = 256
    /// The number of downloads by which it is judged how many failures are those of the server.
    static let usualDownloads = 6
    /// The time between two reads because of news while something is under way. Each change of the server is news.
    static let readInterval = Duration.milliseconds(20)
    /// The time between two measurements while downloads wait for room.
    static let roomInterval = Duration.seconds(1)
    /// The longest time that a started record may be `ready` in the journal.
    static let longestUnmarked = Duration.seconds(1)
    /// The time after which batches are tried again when one was not taken.
    static let batchesInterval = Duration.seconds(60)

    /// - Parameter limits: The numbers of downloads, uploads and other changes that may be under way at a time, at least
    ///   one of each.
    init(limits: Limits) {
        let downloads = max(1, limits.downloads ?? Limits.mostByItself)
        window = Window(limits: [
            .downloads: downloads + Self.handedAhead, .removals: Self.removalsAtOnce, .changes: limits.actions,
            .uploads: limits.uploads ?? UploadsAtOnce().all,
        ])
        health = ServerHealth(backoff: SyncEngine.backoff, downloads: min(downloads, Self.usualDownloads))
    }

    mutating func take(_ input: Input, now: Timestamp) {
        switch input {
        case .told(let flags, let treeAccess, let hasUnmarked, let takesBatches, let uploads):
            window.uploads = uploads
            (self.treeAccess, self.hasUnmarked, self.takesBatches) = (treeAccess, hasUnmarked, takesBatches)
            told(flags, now)
        case .recovered(.incoming(let fetched)):
            window.addEnding(fetched.job)
            arrivals.append(fetched, now: now)
        case .recovered(.placed(let file)):
            window.addEnding(file.job)
            inPlace.files.append(file)
        case .recalled(let jobs, let batched):
            hasHandedOut = false
            for job in jobs.reversed() { window.putBack(job) }
            returned(batched)
        case .batched(let outcomes): for outcome in outcomes { take(outcome, now) }
        case .batchEnded(let wasTaken):
            if !wasTaken { batchesAgainAt = now + Self.batchesInterval }
        case .gone(let record): ended(record)
        case .fetched(let job, let outcome): fetched(job, outcome, now: now)
        case .uploadGoesOn(let record): judgedUploads.insert(record)
        case .changed(let job, .resolved(let outcome)):
            judgedUploads.remove(job.id)
            // One that is read again may not have been sent at all.
            if case .stale = outcome.resolution {} else { health.answered() }
            resolved(outcome)
        case .changed(let job, .uploaded(let file)):
            judgedUploads.remove(job.id)
            health.answered()
            window.freePlace(job.id)
            arrivals.append(file, now: now)
        case .changed(let job, .uploadedTogether(let arrival)):
            judgedUploads.remove(job.id)
            health.answered()
            window.freePlace(job.id)
            arrivals.append(arrival, now: now)
        case .changed(let job, .failed(let failure)):
            judgedUploads.remove(job.id)
            failed(job, failure, now: now)
        case .read(let page): read(page, now)
        case .unread(let failure):
            memory = .outdated
            health.failed(.disk(failure), record: .none, now: now)
        case .recorded(let outcome): resolved(outcome)
        case .unrecorded(let failure, let record):
            window.park(record)
            health.failed(.disk(failure), record: record, now: now)
        case .landed(let batch, let outcome): landed(batch, outcome, now: now)
        case .removed(let outcomes):
            treeWork = .none
            for outcome in outcomes { resolved(outcome) }
            measureSoon(now)
        case .measured(let left): measured(left, now)
        case .relisted: relisted()
        case .woke: wakesAt = nil
        }
    }

    /// Returns the effects to carry out now. Returns an empty array if there is nothing to do until something happens.
    mutating func decide(now: Timestamp) -> [Effect] {
        passTime(now)
        if hasHandedOut, !mayDownload { return [.recall] }
        defer { due = [] }
        let effects = [read(now), fetchBatch(), fetch(), change(), workInTree(now), measureRoom(now), wake(now)]
        return due + effects.compactMap { $0 }
    }
}

// MARK: What happened

extension EngineMachine {
    private mutating func told(_ flags: EngineFlags, _ now: Timestamp) {
        (isOnline, expectsMore) = (flags.isOnline, flags.expectsMore)
        if flags.isReset {
            health.reset()
            outdate()
        }
        let demandEndsHold = flags.isDemanded && health.demanded()
        if flags.isStale || demandEndsHold { outdate() }
        guard flags.hasNews else { return }
        if window.startedCount + batches.startedCount > 0, let lastRead, lastRead <= now,
            now < lastRead + Self.readInterval
        {
            readsOnAt = lastRead + Self.readInterval
        } else {
            readOn()
        }
    }

    /// Notes that the state in memory may be out of date.
    private mutating func outdate() {
        if case .reading(let ended, _) = memory {
            memory = .reading(ended: ended, next: .beginAnew)
        } else {
            memory = .outdated
        }
    }

    /// Notes that there may be more records behind those that were read.
    private mutating func readOn() {
        if case .reading(let ended, let next) = memory {
            if next == .goOn { memory = .reading(ended: ended, next: .readOn) }
        } else {
            (journal, removals) = (.after(journal.record), .after(removals.record))
        }
    }

    private mutating func passTime(_ now: Timestamp) {
        // The journal contains the records that were put back when the hold began, and those that waited for this time.
        let holdEnded = health.tick(now: now)
        let waitEnded = nextWait.map { $0 <= now } ?? false
        if waitEnded { nextWait = nil }
        if let readsOnAt, readsOnAt <= now || window.startedCount + batches.startedCount == 0 {
            self.readsOnAt = nil
            readOn()
        }
        if holdEnded || waitEnded { outdate() }
    }

    private mutating func read(_ page: JournalPage, _ now: Timestamp) {
        guard case .reading(let ended, let next) = memory else { return }
        lastRead = now
        journal = page.isLast ? .end(page.last) : .after(page.last)
        removals = page.isLastRemoval ? .end(page.lastRemoval) : .after(page.lastRemoval)
        let changesServer = page.jobs.contains { $0.record.action.kind.changesServer }
        let occupied = changesServer ? batches.occupiedPaths : []
        for job in page.jobs where !ended.contains(job.id) && !batches.contains(job.id) {
            window.add(job, isHeld: batches.holdsUp(job, occupied: occupied))
        }
        if let read = page.batch, let batch = batches.part(of: read, beside: window, without: ended) {
            batches.add(batch)
        }
        wait(until: page.earliestWait)
        took(page.lack, now)
        memory = next == .beginAnew ? .outdated : .current
        if next == .readOn { readOn() }
    }

    private mutating func wait(until time: Timestamp?) {
        guard let time else { return }
        nextWait = min(nextWait ?? time, time)
    }

    private mutating func take(_ outcome: BatchOutcome, _ now: Timestamp) {
        switch outcome {
        case .complete(let arrival):
            health.answered()
            batches.arrived(arrival.record)
            arrivals.append(arrival, now: now)
        case .goesOn(let record, let concernsAll): if concernsAll { batches.judges(record) }
        case .returned(let record): returned([record])
        case .cancelled(let record): ended(record)
        }
    }

    /// Notes that downloads of batches have to be read again.
    private mutating func returned(_ records: [SyncRecordID]) {
        guard !records.isEmpty else { return }
        for record in records { leaveBatch(record) }
        outdate()
    }

    /// Notes that a download is no longer in a batch. What waited for it is read again.
    private mutating func leaveBatch(_ record: SyncRecordID) {
        if batches.remove(record), batches.holdsUp { outdate() }
    }

    private mutating func fetched(_ job: Job, _ outcome: FetchOutcome, now: Timestamp) {
        if batches.contains(job.id) {
            leaveBatch(job.id)
            window.addEnding(job)
        }
        switch outcome {
        case .complete(let fetched):
            health.answered()
            window.freePlace(job.id)
            arrivals.append(fetched, now: now)
        case .cancelled: ended(job.id)
        case .failed(let failure): failed(job, failure, now: now)
        case .notStarted:
            window.park(job.id)
            outdate()
        }
    }

    private mutating func failed(_ job: Job, _ failure: FetchFailure, now: Timestamp) {
        let hadAccount = !health.isAccountRefused
        health.failed(failure, record: job.id, now: now)
        if failure.isAnswer { health.answered() }
        let decision = RetryDecision.of(
            failure, attempts: job.record.attempts, rounds: job.record.rounds, serverIsWell: health.isWell, now: now,
            delay: { SyncEngine.backoff.delay(afterFailures: $0, retryAfter: $1) },
            pause: { SyncEngine.longBackoff.delay(afterFailures: $0, retryAfter: $1) })
        window.freePlace(job.id)
        due.append(.recordFailure(job, decision, failure, tellsOfAccount: hadAccount && health.isAccountRefused))
    }

    private mutating func ended(_ record: SyncRecordID) {
        let freesDownload = window.finish(record)
        leaveBatch(record)
        if case .reading(var ended, let next) = memory {
            // `memory` is set first, so that the set is not copied for each record.
            memory = .current
            ended.insert(record)
            memory = .reading(ended: ended, next: next)
        }
        if freesDownload || batches.hasLeftOut { outdate() }
    }

    private mutating func resolved(_ outcome: RecordOutcome) {
        let isBatched = batches.contains(outcome.record)
        leaveBatch(outcome.record)
        // A download of a batch is in no lane. Where it stays in the journal, it is read again before what follows it.
        defer { if isBatched, !outcome.isEnded { outdate() } }
        switch outcome.resolution {
        case .ended: ended(outcome.record)
        case .waits(let until):
            // Whatever it waits for, what comes after it on its lane waits too.
            window.park(outcome.record)
            wait(until: until)
        case .putBack:
            window.park(outcome.record)
            // If the hold ended before the outcome was written down, nothing else causes the journal to be read again.
            if health.hold == nil { outdate() }
        case .relist(let folder):
            window.park(outcome.record)
            wantListing(of: folder, for: outcome.record)
        case .stale:
            window.park(outcome.record)
            outdate()
        }
    }

    private mutating func wantListing(of folder: ItemPath, for record: SyncRecordID) {
        switch relisting {
        case .none:
            relisting = .underWay(next: [:])
            due.append(.relist([folder: [record]]))
        case .underWay(var next):
            next[folder, default: []].append(record)
            relisting = .underWay(next: next)
        }
    }

    private mutating func relisted() {
        outdate()
        guard case .underWay(let next) = relisting, !next.isEmpty else {
            relisting = .none
            return
        }
        relisting = .underWay(next: [:])
        due.append(.relist(next))
    }

    private mutating func landed(_ batch: Arrivals, _ outcome: LandingOutcome, now: Timestamp) {
        let completed = treeWork == .landing(completes: true)
        treeWork = .none
        isLandingStuck = outcome.failure != nil
        if let failure = outcome.failure {
            health.failed(.disk(failure), record: .none, now: now)
            // Unless the disk failed, the files are whole in `incoming/` and are found there when the hold is over.
            for file in batch.files { window.park(file.job.id) }
            for arrival in batch.batched {
                leaveBatch(arrival.record)
                if arrival.isUploaded { window.park(arrival.record) }
            }
            // Downloads of a batch are in no lane. Read again, they hold up what follows them.
            if batch.batched.contains(where: { !$0.isUploaded }) { outdate() }
            return
        }
        measureSoon(now)
        inPlace.add(outcome.placed, outcome.batched, afterCompleting: completed, now: now)
        for file in outcome.placed where batches.contains(file.job.id) {
            leaveBatch(file.job.id)
            window.addEnding(file.job)
        }
        for record in outcome.completed { ended(record) }
        for outcome in outcome.outcomes { resolved(outcome) }
    }
}

// MARK: Room

extension EngineMachine {
    /// Notes that copies were removed or replaced, which may have made room. A read that is under way may have measured
    /// the room before.
    private mutating func measureSoon(_ now: Timestamp) { measuresRoomAt = now }

    private mutating func took(_ lack: RoomLack?, _ now: Timestamp) {
        self.lack = lack
        let next = now + Self.roomInterval
        measuresRoomAt = lack == nil ? nil : min(measuresRoomAt ?? next, next)
    }

    private mutating func measured(_ left: Int64?, _ now: Timestamp) {
        isMeasuringRoom = false
        guard let lack else { return }
        // What was removed during the measurement may not be in it.
        let next = now + Self.roomInterval
        measuresRoomAt = min(measuresRoomAt ?? next, next)
        if left.map({ $0 >= lack.smallest }) ?? true { outdate() }
    }

    /// Whether the room is to be measured now. As long as downloads of the memory are to begin, these have the room.
    private func mustMeasureRoom(_ now: Timestamp) -> Bool {
        guard lack != nil, let measuresRoomAt, measuresRoomAt <= now, !isMeasuringRoom else { return false }
        return mayDownload && !isReading && window.readyCount(.downloads) + batches.readyCount == 0
    }

    private mutating func measureRoom(_ now: Timestamp) -> Effect? {
        guard mustMeasureRoom(now) else { return nil }
        (isMeasuringRoom, measuresRoomAt) = (true, nil)
        return .measureRoom
    }
}

// MARK: What is to be done

extension EngineMachine {
    private var isDiskFailing: Bool { health.hold?.failure.kind == .localIO }

    private var isReading: Bool { if case .reading = memory { true } else { false } }

    /// Whether what is in memory may start. An outdated memory is read again first, because its records may not be
    /// wanted any more, or may have to wait for others.
    private var mayStart: Bool {
        switch memory {
        case .current, .reading(_, .goOn), .reading(_, .readOn): true
        case .outdated, .reading(_, .beginAnew): false
        }
    }

    private var mayDownload: Bool { health.hold == nil && isOnline && mayStart }

    private mutating func read(_ now: Timestamp) -> Effect? {
        guard !isReading, !isDiskFailing else { return nil }
        if memory == .outdated {
            window.forgetIdle()
            batches.forgetReady()
            batches.readsAgain()
            (lack, measuresRoomAt) = (nil, nil)
            (journal, removals) = (.after(.none), .after(.none))
        }
        let few = JournalReader.pageSize / 4
        let isRunningLow = !journal.isEnd && window.readyCount < few && batches.missingCount < OpenBatches.few
        let lacksRemovals = !journal.isEnd && !removals.isEnd && window.readyCount(.removals) < few
        guard isRunningLow || lacksRemovals || marksAt.map({ $0 <= now }) == true else { return nil }
        markStarted()
        memory = .reading(ended: [], next: .goOn)
        return .read(
            JournalRequest(
                after: journal.record, removalsAfter: removals.record, readsOn: isRunningLow || journal.isEnd,
                lack: lack, takesBatch: takesBatches && batchesAgainAt.map { $0 <= now } ?? true))
    }

    private mutating func fetchBatch() -> Effect? {
        guard mayDownload, !arrivals.areTooMany, let batch = batches.next() else { return nil }
        hasHandedOut = true
        return .fetchBatch(batch)
    }

    private mutating func fetch() -> Effect? {
        guard mayDownload else { return nil }
        var jobs: [Job] = []
        while !arrivals.areTooMany, let job = window.start(.downloads) { jobs.append(job) }
        // The effect is also needed without new jobs: jobs that were handed out before may go on.
        guard !jobs.isEmpty || window.underWayCount(.downloads) > 0 else { return nil }
        hasHandedOut = true
        return .fetch(jobs)
    }

    private mutating func change() -> Effect? {
        guard mayDownload else { return nil }
        var jobs: [Job] = []
        while let job = window.start(.changes) { jobs.append(job) }
        // A batch goes out when there is room for a whole one, and when no answer waits for its judgement that may be that
        // of all others too.
        let batches = window.hasRoomForBatch && judgedUploads.isEmpty
        while let job = window.start(.uploads, batches: batches) { jobs.append(job) }
        return jobs.isEmpty ? nil : .change(jobs)
    }

    private mutating func workInTree(_ now: Timestamp) -> Effect? {
        guard treeWork == .none else { return nil }
        switch treeAccess {
        case .none: break
        case .granted: return nil
        case .requested where inPlace.isEmpty || isDiskFailing: return .grantTree
        case .requested: return land(Arrivals(), completes: true)
        }
        let isProof = inPlace.isProof(now: now)
        let isOverdue = inPlace.isOverdue(now: now)
        // A disk that is too full for further downloads may have room for the files that are already here.
        if !(isDiskFailing && isLandingStuck),
            arrivals.areDue(landingDelay: landingDelay, now: now)
                || (!inPlace.isEmpty && isProof && (isLast || isOverdue))
        {
            return land(arrivals.takeAll(), completes: isProof || isOverdue)
        }
        guard mayStart else { return nil }
        var jobs: [Job] = []
        while let job = window.start(.removals) { jobs.append(job) }
        guard !jobs.isEmpty else { return nil }
        treeWork = .removing
        return .remove(jobs)
    }

    /// Returns the effect that puts a batch in place.
    /// - Parameter completes: Whether the items of files in place are completed. Otherwise these items wait for the
    ///   next landing, since their files came just now.
    private mutating func land(_ batch: Arrivals, completes: Bool) -> Effect {
        treeWork = .landing(completes: completes)
        markStarted()
        return .land(batch, completing: completes ? inPlace : InPlace())
    }

    /// Notes that the started records are marked: reading and landing do this.
    private mutating func markStarted() { (marksAt, hasUnmarked) = (nil, false) }

    /// Whether no transfer is under way: all files are here, or none can start. The copy of an uploaded file is put in
    /// place like a download.
    private var isLast: Bool {
        window.underWayCount(.downloads) == 0 && window.underWayCount(.uploads) == 0 && batches.underWayCount == 0
    }

    /// The time that complete files wait for others.
    private var landingDelay: Duration {
        guard isLast else { return Arrivals.longestWait }
        return expectsMore ? Arrivals.shortWait : .zero
    }

    private mutating func wake(_ now: Timestamp) -> Effect? {
        if marksAt == nil, hasUnmarked { marksAt = now + Self.longestUnmarked }
        // An overdue time is ignored: its work waits for something else, which sends an input.
        let times = [
            health.hold?.until, nextWait, readsOnAt, arrivals.landsAt(landingDelay: landingDelay), inPlace.completesAt,
            inPlace.provesAt,
            marksAt, measuresRoomAt,
        ].compactMap { $0 }.filter { $0 > now }
        guard let next = times.min(), wakesAt.map({ next < $0 }) ?? true else { return nil }
        wakesAt = next
        return .wake(at: next)
    }
}

// MARK: The end

extension EngineMachine {
    /// Tells whether nothing is left that can go on within the longest wait of a single run.
    func isDrained(now: Timestamp) -> Bool {
        guard !isReading, readsOnAt == nil, treeWork == .none, relisting == .none, due.isEmpty, !isMeasuringRoom,
            !mustMeasureRoom(now)
        else { return false }
        // The journal cannot be read either. Files that are here and cannot be completed are left to the next run.
        if isDiskFailing, isLandingStuck, window.startedCount + batches.startedCount == inPlace.count + arrivals.count {
            return true
        }
        guard window.isIdle, batches.isIdle else { return false }
        if isDiskFailing { return true }
        guard memory == .current, !expectsMore, arrivals.isEmpty, inPlace.isEmpty,
            window.readyCount(.removals) == 0
        else { return false }
        let limit = now + SyncEngine.longestDrainWait
        if let hold = health.hold {
            return hold.until.map { $0 > limit } ?? true || health.holds >= SyncEngine.mostHoldsInDrain
        }
        guard isOnline else { return true }
        return journal.isEnd && window.readyCount + batches.readyCount == 0 && (nextWait.map { $0 > limit } ?? true)
    }

    /// Returns the actions that cannot go on within the longest wait of a drain, whatever their records wait for.
    func standstill(now: Timestamp) -> Standstill {
        var standstill = Standstill()
        let limit = now + SyncEngine.longestDrainWait
        if let hold = health.hold {
            guard hold.until.map({ $0 > limit }) ?? true || health.holds >= SyncEngine.mostHoldsInDrain else {
                return standstill
            }
            (standstill.stopsDownloads, standstill.stopsRemovals) = (true, isDiskFailing)
            standstill.failure = hold.failure
        } else if !isOnline {
            standstill.stopsDownloads = true
        } else if lack != nil, memory == .current, readsOnAt == nil, journal.isEnd, window.isIdle, batches.isIdle,
            window.readyCount + batches.readyCount == 0, treeWork == .none, !isMeasuringRoom, !mustMeasureRoom(now)
        {
            (standstill.stopsDownloads, standstill.lacksRoom) = (true, true)
        }
        return standstill
    }

    /// Whether journal and files agree: nothing is on its way into the tree.
    var isTidy: Bool { arrivals.isEmpty && inPlace.isEmpty && window.isIdle && batches.isIdle }
}
