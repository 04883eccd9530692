import Database
import LocalTree
import Model

extension EngineLoop {
    /// Starts everything that can start now.
    mutating func pump(_ children: inout Children) {
        takeNews()
        takeOutcomes(&children)
        startReading(&children)
        startDownloads(&children)
        startTreeWork(&children)
        startRelisting(&children)
        setTimer(&children)
    }

    private mutating func takeNews() {
        let now = engine.waitTime()
        // News that come while the journal is read may be of what it has passed already: they are taken when it was read.
        let (isReset, hasNews) = engine.controls.with { [isReading] state in
            defer {
                state.isReset = false
                state.hasNews = state.hasNews && isReading
            }
            return (state.isReset, state.hasNews && !isReading)
        }
        if isReset { health.reset() }
        if hasNews { (isExhausted, hasAllRemovals) = (false, false) }
        // What was put back when the hold began, and what waited for this time, is in the journal.
        if health.tick(now: now) || isReset || nextWait.map({ $0 <= now }) == true {
            nextWait = nil
            engine.controls.with { $0.isStale = true }
        }
    }

    private mutating func startReading(_ children: inout Children) {
        guard !isReading, !isDiskFailing else { return }
        let isStale = engine.controls.with { state in
            defer { state.isStale = false }
            return state.isStale
        }
        if isStale {
            recallDownloads()
            window.forgetIdle()
            (cursor, removalCursor) = (0, 0)
            (isExhausted, hasAllRemovals) = (false, false)
        }
        let few = SyncEngine.pageSize / 4
        let isRunningLow = !isExhausted && window.readyCount < few
        let readsOn = isRunningLow || isExhausted
        let lacksRemovals = !isExhausted && !hasAllRemovals && window.readyCount(.actions) < few
        guard isRunningLow || lacksRemovals || marksAt.map({ $0 <= engine.waitTime() }) == true else { return }
        isReading = true
        endedWhileReading = []
        let (cursor, removalCursor, started) = (cursor, removalCursor, takeUnmarked())
        children.addTask { [engine, only] in
            try await Self.onDisk(failing: Event.unread) {
                .read(
                    try await engine.readJournal(
                        after: cursor, removalsAfter: removalCursor, readsOn: readsOn, started: started, only: only))
            }
        }
    }

    /// The records that the next transaction marks as started.
    mutating func takeUnmarked() -> [Int64] {
        marksAt = nil
        return crew.takeUnmarked()
    }

    /// How long a record that was started may stand as ready in the journal.
    private static let longestUnmarked = Duration.seconds(1)

    mutating func read(_ page: JournalPage) {
        isReading = false
        cursor = page.last
        isExhausted = page.isLast
        (removalCursor, hasAllRemovals) = (page.lastRemoval, page.isLastRemoval)
        for job in page.jobs where !endedWhileReading.contains(job.id) { window.add(job) }
        endedWhileReading = []
        wait(until: page.earliestWait)
    }

    mutating func wait(until time: Timestamp?) {
        guard let time else { return }
        nextWait = min(nextWait ?? time, time)
    }

    /// Whether downloads may start. What is in memory and out of date is read again first: it may not be wanted any more.
    private var mayDownload: Bool { health.hold == nil && engine.controls.with { $0.isOnline && !$0.isStale } }

    /// Takes back what was handed out and not started.
    private mutating func recallDownloads() {
        for job in crew.recall().reversed() { window.putBack(job) }
    }

    private mutating func startDownloads(_ children: inout Children) {
        defer { if marksAt == nil, crew.hasUnmarked { marksAt = engine.waitTime() + Self.longestUnmarked } }
        guard mayDownload else { return recallDownloads() }
        var jobs: [Job] = []
        while !arrivals.areTooMany, let job = window.start(.downloads) { jobs.append(job) }
        for thread in crew.hand(jobs) {
            children.addTask(executorPreference: engine.downloadThreads[thread]) { [engine, crew] in
                await engine.download(for: crew, on: thread)
                return .left
            }
        }
    }

    private mutating func startRelisting(_ children: inout Children) {
        guard !isRelisting, !relisting.isEmpty else { return }
        isRelisting = true
        let folders = relisting
        relisting = [:]
        children.addTask { [engine] in
            for folder in folders.keys.sorted() { await engine.callbacks.relist(folder) }
            let records = folders.values.flatMap { $0 }
            // If that cannot be written down, their waits end by themselves.
            return try await Self.onDisk(failing: { _ in .relisted }) {
                try await engine.endRelisting(records)
                return .relisted
            }
        }
    }

    private mutating func setTimer(_ children: inout Children) {
        let now = engine.waitTime()
        // What is overdue waits for something else, which will tell.
        let landsAt = arrivals.landsAt(patience: patience)
        let times = [health.hold?.until, nextWait, landsAt, completesAt, settlesAt, marksAt].compactMap { $0 }
            .filter { $0 > now }
        guard let next = times.min(), armed.map({ next < $0 }) ?? true else { return }
        armed = next
        children.addTask { [clock = engine.clock] in
            // Ends early when all is over.
            do { try await clock.sleep(next - now) } catch { return .tick }
            return .tick
        }
    }

    var isDiskFailing: Bool { health.hold?.failure.kind == .localIO }

    /// What a child task does with the database: a full disk is waited for, anything else ends the run.
    static func onDisk(
        failing event: (Failure) -> Event, _ body: () async throws -> Event
    ) async throws -> Event {
        do { return try await body() } catch let failure as Failure where failure.kind == .localIO {
            return event(failure)
        }
    }
}
