import Database
import LocalTree
import Model
import Threads

/// The work in the tree: one piece at a time, on a thread that may block.
extension EngineLoop {
    /// How long a file that is in place waits for others before its item says so.
    static let longestCompletion = Duration.seconds(1)
    /// So long a file must have been in place for its looks to be proof: completed sooner, it would be read at the next start.
    static let settling = FileMark.clockStep * 2

    mutating func startTreeWork(_ children: inout Children) {
        guard !isLanding else { return }
        if engine.controls.rest.isWanted {
            if placed.isEmpty || isDiskFailing {
                engine.controls.rest.admit()
            } else {
                startLanding([], completing: true, &children)
            }
            return
        }
        let now = engine.waitTime()
        let isOverdue = completesAt.map { $0 <= now } ?? false
        let isSettled = settlesAt.map { $0 <= now } ?? true
        // A disk on which no download fits may have room for what is here already.
        if !(isDiskFailing && isLandingStuck),
            arrivals.areDue(patience: patience, now: now) || (!placed.isEmpty && isSettled && (isLast || isOverdue))
        {
            startLanding(arrivals.takeAll(), completing: isSettled || isOverdue, &children)
        } else if window.readyCount(.actions) > 0 {
            startRemovals(&children)
        }
    }

    /// Nobody else is on the way: all downloads are here, or none can start.
    private var isLast: Bool { window.underWayCount(.downloads) == 0 }

    /// How long complete files wait for others.
    var patience: Duration {
        guard isLast else { return Arrivals.longestWait }
        return engine.controls.with(\.expectsMore) ? Arrivals.shortWait : .zero
    }

    /// - Parameter completing: Whether the items of files that are in place say so. Else these wait for the next landing, since
    ///   they came just now.
    private mutating func startLanding(_ batch: [Fetched], completing: Bool, _ children: inout Children) {
        isLanding = true
        let (earlier, started) = (completing ? placed : [], takeUnmarked())
        if completing { isCompleting = true }
        children.addTask(executorPreference: engine.threads) { [engine] in
            .landed(batch, try engine.land(batch, completing: earlier, started: started))
        }
    }

    mutating func landed(_ batch: [Fetched], _ outcome: LandingOutcome) {
        let completed = isCompleting
        (isLanding, isCompleting) = (false, false)
        isLandingStuck = outcome.failure != nil
        if let failure = outcome.failure {
            health.failed(.disk(failure), record: 0, now: engine.waitTime())
            // Unless the disk failed they are whole in `incoming/` and are found there when the hold is over.
            for file in batch { window.park(file.job.id) }
            return
        }
        if completed { (placed, completesAt) = ([], nil) }
        placed += outcome.placed
        let now = engine.waitTime()
        if placed.isEmpty {
            (completesAt, settlesAt) = (nil, nil)
        } else {
            completesAt = completesAt ?? now + Self.longestCompletion
            settlesAt = now + Self.settling
        }
        for settlement in outcome.settlements { settled(settlement) }
    }

    private mutating func startRemovals(_ children: inout Children) {
        var jobs: [Job] = []
        while let job = window.start(.actions) { jobs.append(job) }
        isLanding = true
        children.addTask(executorPreference: engine.threads) { [engine] in
            .removed(try engine.removeCopies(jobs))
        }
    }

    /// Takes up a download that was complete when the host ended.
    mutating func takeUp(_ landing: RecoveredLanding) {
        switch landing {
        case .incoming(let fetched):
            window.addEnding(fetched.job)
            arrivals.append(fetched, now: engine.waitTime())
        case .placed(let file):
            window.addEnding(file.job)
            placed.append(file)
        }
    }
}

extension SyncEngine {
    /// Runs `body` while the engine neither puts anything into the tree nor takes anything out of it, and no file is in place
    /// whose item does not say so: for changes to the paths of the tree that go with changes of rows.
    public func withTreeAtRest<T>(_ body: () async throws -> T) async rethrows -> T {
        await controls.rest.enter(ask: controls.bell.ring)
        defer {
            controls.rest.leave()
            controls.bell.ring()
        }
        return try await body()
    }
}
