package import Model

/// What the next round of a running host lists, and when. A value without I/O; times are on the monotonic clock unless said otherwise.
///
/// Where ETags do not tell of changes, everything is walked once in an interval; between two walks only what could not be listed is asked
/// for again.
package struct WalkPlan {
    package let interval: Duration
    /// When everything is walked next; nil: as soon as the server is there, or what is left of a walk that was cut off.
    private var nextWalk: Duration?
    /// Whether the last pause is until then.
    private var waitsForWalk = false
    private var retries = FolderRetries()

    package init(interval: Duration) { self.interval = interval }

    /// How the next round scans.
    /// - Parameters:
    ///   - isFamily: whether the server is of the ownCloud family.
    ///   - isCalled: whether somebody has to be looked for everywhere, before its time.
    ///   - time: by the wall clock.
    package func mode(
        isFamily: Bool, _ history: ScanMode.History, isCalled: Bool = false, time: Timestamp, at now: Duration
    ) -> ScanMode {
        let mode = ScanMode.next(isOwnCloudFamily: isFamily, history: history, now: time)
        guard !isFamily || history.etagsWereWrong, let nextWalk else { return mode }
        return isCalled || nextWalk <= now ? .whole : .rest
    }

    /// Whether a folder could not be listed a moment ago, and is left alone.
    package func waits(_ folder: ItemPath, at now: Duration) -> Bool { retries.waits(folder, at: now) }

    /// A round has ended.
    /// - Parameters:
    ///   - walkBegan: by the wall clock, when the walk began that it went on with, if it did.
    ///   - time: by the wall clock.
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

    /// How long nothing is asked; nil: nothing is known that would be due.
    package mutating func pause(at now: Duration) -> Duration? {
        guard let nextWalk else { return nil }
        let next = min(nextWalk, retries.next ?? nextWalk)
        waitsForWalk = next == nextWalk
        return max(next - now, .zero)
    }

    /// The pause is over, and nobody called before.
    package mutating func paused() {
        if waitsForWalk, nextWalk != nil { nextWalk = .zero }
    }
}
