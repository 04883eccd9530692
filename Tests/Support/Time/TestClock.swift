public import Model
import Synchronization

/// A clock whose time a test moves on. Who sleeps on it can be seen, waited for and woken by the duration that was asked for, which is
/// the name of a sleep: nothing else tells the clock who sleeps.
public final class TestClock: Sendable {
    /// What becomes of a sleep.
    public enum Course: Sendable {
        /// It ends when the test has moved the time to its end.
        case untilDue
        /// It ends when the test wakes it, wherever the time is.
        case untilWoken
        /// It moves the time to its end, after all that can happen before that.
        case passes
        /// It ends at once, and no time passes.
        case skipped
        /// It takes its time on the system's clock.
        case real
    }

    /// Somebody who sleeps.
    public struct Sleep: Sendable {
        public let duration: Duration
        /// When it ends, on ``TestClock/monotonic``.
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
        /// How far the test has moved the time.
        var ahead = Duration.zero
        /// How far the time of day is off.
        var skew = Duration.zero
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
    ///   - start: the time of day at the beginning, from which the clock moves when the test says so.
    ///   - base: a clock that this one is ahead of by as much as the test has moved it, in place of `start`.
    ///   - course: what becomes of the sleeps of a duration.
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

    /// The time that has passed since the beginning; of a clock with a base, since whatever that counts from.
    public var monotonic: Duration { state.withLock { monotonic($0) } }

    private func monotonic(_ state: State) -> Duration { (base?.monotonic() ?? .zero) + state.ahead }

    /// Moves the time on, and ends the sleeps that are due then.
    public func advance(_ duration: Duration) { move { $0.ahead += duration } }

    /// Moves ``monotonic`` to a time, unless it is later already, and ends the sleeps that are due then.
    public func advance(to time: Duration) { move { $0.ahead += max(.zero, time - monotonic($0)) } }

    /// Sets the time of day off by so much, without any time passing; zero: right again.
    public func set(off duration: Duration) { state.withLock { $0.skew = duration } }

    /// Moves the time to the end of the sleep that is due first, and ends that alone. Of several the one that began first goes.
    /// - Returns: false if nobody sleeps.
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

    // MARK: Sleepers

    /// Who sleeps until the test does something, in the order in which they began.
    public var sleeping: [Sleep] {
        state.withLock { $0.sleepers.values.map(\.sleep) }.sorted { $0.id < $1.id }
    }

    /// When those who sleep want to wake, the earliest first.
    public var deadlines: [Duration] { sleeping.map(\.deadline).sorted() }

    /// How long was slept, in the order of the ends, without the sleeps that were cancelled or are ``Course/real``.
    public var slept: [Duration] { state.withLock { $0.slept } }

    /// Waits until somebody sleeps whose duration fits.
    /// - Returns: the one that began first; nil if the test's time is over before.
    public func untilSleeping(where fits: (Duration) -> Bool) async -> Sleep? {
        var found: Sleep?
        await until {
            found = sleeping.first { fits($0.duration) }
            return found != nil
        }
        return found
    }

    /// Waits until somebody sleeps for a duration.
    @discardableResult
    public func untilSleeping(for duration: Duration) async -> Sleep? { await untilSleeping { $0 == duration } }

    /// Ends a sleep; the time stays.
    public func wake(_ sleep: Sleep) {
        state.withLock { state in
            defer { state.end(sleep) }
            return state.sleepers[sleep.id]
        }?.continuation.resume()
    }

    /// Ends all sleeps of a duration; the time stays.
    public func wake(_ duration: Duration) {
        for sleep in sleeping where sleep.duration == duration { wake(sleep) }
    }

    /// From now on every sleep ends when the test has moved the time to its end.
    public func stop() { state.withLock { $0.course = { _ in .untilDue } } }

    // MARK: Use

    /// The clock as the host takes it.
    public var host: HostClock {
        HostClock(now: { self.now }, monotonic: { self.monotonic }, sleep: { try await self.sleep($0) })
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
