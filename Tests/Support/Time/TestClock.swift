public import Model
import Synchronization

/// A clock whose time a test advances. The test can list the sleeps on the clock, wait for them and end them. The
/// requested duration identifies a sleep: nothing else tells the clock which code sleeps.
public final class TestClock: Sendable {
    /// The ways in which a sleep ends.
    public enum Course: Sendable {
        /// The sleep ends when the test has advanced the time to the sleep's end.
        case untilDue
        /// The sleep ends when the test wakes it, whatever the time is.
        case untilWoken
        /// The sleep advances the time to its own end, after everything that can happen before then.
        case passes
        /// The sleep ends at once, and no time passes.
        case skipped
        /// The sleep lasts its duration on the system's clock.
        case real
    }

    /// A sleep that has not ended.
    public struct Sleep: Sendable {
        /// The requested duration.
        public let duration: Duration
        /// The time at which the sleep ends, on ``TestClock/monotonic``.
        public let deadline: Duration
        fileprivate let id: Int
    }

    private struct Sleeper {
        var sleep: Sleep
        var endsByTime: Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var course: @Sendable (Duration) -> Course
        /// How far the test has advanced the time.
        var ahead = Duration.zero
        /// How far the time of day is off.
        var skew = Duration.zero
        /// For how long the machine slept.
        var asleep = Duration.zero
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var slept: [Duration] = []

        mutating func end(_ sleep: Sleep) {
            if sleepers.removeValue(forKey: sleep.id) != nil { slept.append(sleep.duration) }
        }
    }

    private let state: Mutex<State>
    private let start: Timestamp
    private let base: HostClock?

    /// - Parameters:
    ///   - start: the time of day at the beginning. The clock advances from there when the test says so.
    ///   - base: a clock used in place of `start`. This clock is ahead of `base` by as much as the test has advanced
    ///     it.
    ///   - course: returns the way in which sleeps of a duration end.
    public init(
        start: Timestamp = Timestamp(seconds: 1_700_000_000), aheadOf base: HostClock? = nil,
        course: @escaping @Sendable (Duration) -> Course = { _ in .untilDue }
    ) {
        self.start = start
        self.base = base
        state = Mutex(State(course: course))
    }

    // MARK: Time

    /// The time of day.
    public var now: Timestamp {
        let (ahead, skew) = state.withLock { ($0.ahead, $0.skew) }
        return (base?.now() ?? start) + ahead + skew
    }

    /// The time that has passed since the beginning. With a base, the time counts from the base's own beginning.
    public var monotonic: Duration { state.withLock { monotonic($0) } }

    private func monotonic(_ state: State) -> Duration { (base?.monotonic() ?? .zero) + state.ahead }

    /// Advances the time, and ends the sleeps that are then due.
    public func advance(_ duration: Duration) { move { $0.ahead += duration } }

    /// Advances ``monotonic`` to a time, unless it is already later, and ends the sleeps that are then due.
    public func advance(to time: Duration) { move { $0.ahead += max(.zero, time - monotonic($0)) } }

    /// Sets the time of day off by a duration, without any time passing; zero makes it right again.
    public func set(off duration: Duration) { state.withLock { $0.skew = duration } }

    /// Advances the time to the end of the sleep that is due first, and ends that sleep alone. Of several due at the
    /// same time, the sleep that began first ends.
    /// - Returns: false if there is no sleep that ends by time.
    public func passToNext() -> Bool {
        let next: Sleeper? = state.withLock { state -> Sleeper? in
            let first = state.sleepers.values.filter(\.endsByTime)
                .min { ($0.sleep.deadline, $0.sleep.id) < ($1.sleep.deadline, $1.sleep.id) }
            guard let first else { return nil }
            state.ahead += max(.zero, first.sleep.deadline - monotonic(state))
            state.end(first.sleep)
            return first
        }
        next?.continuation.resume()
        return next != nil
    }

    private func move(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            let now = monotonic(state)
            let due = state.sleepers.values.filter { $0.endsByTime && $0.sleep.deadline <= now }
            for sleeper in due { state.end(sleeper.sleep) }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Advances the time as ``advance(_:)`` does, while the machine sleeps.
    public func sleepMachine(_ duration: Duration) {
        move { state in
            state.ahead += duration
            state.asleep += duration
        }
    }

    // MARK: Sleepers

    /// The sleeps that last until the test acts, in the order in which they began.
    public var sleeping: [Sleep] {
        state.withLock { $0.sleepers.values.map(\.sleep) }.sorted { $0.id < $1.id }
    }

    /// The times at which the sleeps are due, the earliest first.
    public var deadlines: [Duration] { sleeping.map(\.deadline).sorted() }

    /// The durations of the ended sleeps, in the order in which they ended, without sleeps that were cancelled or are
    /// ``Course/real``.
    public var slept: [Duration] { state.withLock { $0.slept } }

    /// Waits for a sleep whose duration fits.
    /// - Returns: the fitting sleep that began first; nil if the test's time ends before.
    public func untilSleeping(where fits: (Duration) -> Bool) async -> Sleep? {
        var found: Sleep?
        await until {
            found = sleeping.first { fits($0.duration) }
            return found != nil
        }
        return found
    }

    /// Waits for a sleep of a duration.
    @discardableResult
    public func untilSleeping(for duration: Duration) async -> Sleep? { await untilSleeping { $0 == duration } }

    /// Ends a sleep without changing the time.
    public func wake(_ sleep: Sleep) {
        state.withLock { state in
            defer { state.end(sleep) }
            return state.sleepers[sleep.id]
        }?.continuation.resume()
    }

    /// Ends all sleeps of a duration without changing the time.
    public func wake(_ duration: Duration) {
        for sleep in sleeping where sleep.duration == duration { wake(sleep) }
    }

    /// Makes every sleep from now on end when the test has advanced the time to the sleep's end.
    public func stop() { state.withLock { $0.course = { _ in .untilDue } } }

    // MARK: Use

    /// The clock in the form that the host takes.
    public var host: HostClock {
        HostClock(
            now: { self.now }, monotonic: { self.monotonic },
            awake: { self.state.withLock { self.monotonic($0) - $0.asleep } },
            sleep: { try await self.sleep($0) })
    }

    private func sleep(_ duration: Duration) async throws {
        switch state.withLock({ $0.course })(duration) {
        case .untilDue: try await wait(duration, endsByTime: true)
        case .untilWoken: try await wait(duration, endsByTime: false)
        case .passes:
            for _ in 0..<100 { await Task.yield() }
            try Task.checkCancellation()
            state.withLock { $0.slept.append(duration) }
            advance(duration)
        case .skipped: state.withLock { $0.slept.append(duration) }
        case .real: try await HostClock.system.sleep(duration)
        }
    }

    private func wait(_ duration: Duration, endsByTime: Bool) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled { return true }
                    let sleep = Sleep(duration: duration, deadline: monotonic(state) + duration, id: id)
                    state.sleepers[id] = Sleeper(sleep: sleep, endsByTime: endsByTime, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
