package import Model

/// The plan of a running host: which folders the next round lists, and when. A value without I/O. Times are on the
/// monotonic clock unless stated otherwise.
///
/// Where ETags do not tell of changes, everything is walked once in an interval. Between two walks only the folders
/// that could not be listed are tried again.
package struct WalkPlan {
    /// The time between two walks.
    package let interval: Duration
    /// The time of the next walk over everything. Nil means: the next round walks as soon as the server answers, or
    /// continues a walk that was cut off.
    private var nextWalk: Duration?
    /// Whether the last pause lasts until ``nextWalk``.
    private var waitsForWalk = false
    private var retries = FolderRetries()

    /// Creates a plan for a host that has not scanned yet.
    package init(interval: Duration) { self.interval = interval }

    /// Returns the mode of the next round.
    /// - Parameters:
    ///   - isFamily: Whether the server is of the ownCloud family.
    ///   - isCalled: Whether a walk over everything was requested before its time.
    ///   - time: The time by the wall clock.
    package func mode(
        isFamily: Bool, _ history: ScanMode.History, isCalled: Bool = false, time: Timestamp, at now: Duration
    ) -> ScanMode {
        let mode = ScanMode.next(isOwnCloudFamily: isFamily, history: history, now: time)
        guard !isFamily || history.etagsWereWrong, let nextWalk else { return mode }
        return isCalled || nextWalk <= now ? .whole : .rest
    }

    /// Tells whether a folder could not be listed a moment ago and must not be listed yet.
    package func waits(_ folder: ItemPath, at now: Duration) -> Bool { retries.waits(folder, at: now) }

    /// Takes the outcome of a round that has ended.
    /// - Parameters:
    ///   - walkBegan: The time, by the wall clock, when the walk began that the round continued, or nil if it continued
    ///     no walk.
    ///   - time: The time by the wall clock.
    package mutating func ended(
        _ mode: ScanMode, _ outcome: ItemListUpdate.Outcome, walkBegan: Timestamp?, time: Timestamp, at now: Duration
    ) {
        waitsForWalk = false
        retries.take(outcome.failed, ofAll: mode == .whole, at: now)
        switch mode {
        case .whole: nextWalk = outcome.isCutOff ? nil : now + interval
        case .rest where nextWalk == nil && !outcome.isCutOff:
            let age = walkBegan.map { max(time - $0, .zero) } ?? interval
            nextWalk = now + max(interval - age, .zero)
        case .rest, .byETags: break
        }
    }

    /// Returns the time for which the host sends no requests, or nil if no walk is planned.
    package mutating func pause(at now: Duration) -> Duration? {
        guard let nextWalk else { return nil }
        let next = min(nextWalk, retries.next ?? nextWalk)
        waitsForWalk = next == nextWalk
        return max(next - now, .zero)
    }

    /// Notes that the pause is over, and that nobody requested a round before.
    package mutating func paused() {
        if waitsForWalk, nextWalk != nil { nextWalk = .zero }
    }
}
