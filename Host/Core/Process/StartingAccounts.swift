import Model
import Threads

/// The accounts that are starting: from the opening of their vaults until the processors have seen what their first polls
/// found, or a pause.
///
/// If a hundred accounts started at once, all of their databases and plugins would have threads at the same time, and
/// none of the accounts would be ready earlier. So only a few start at once. While these take long, as when their
/// servers do not answer, others begin one after the other.
///
///     let place = try await starting.enter()
///     …
///     place.leave()
final class StartingAccounts: Sendable {
    /// The number of accounts that start at once.
    static let most = 8
    /// The time after which another account begins in any case.
    static let pace = Duration.milliseconds(250)

    /// The place of an account that is starting. The account leaves it when the object is gone, if not before.
    final class Place: Sendable {
        private let state: Monitor<State>
        private let left = Monitor(false)

        fileprivate init(_ state: Monitor<State>) { self.state = state }

        /// Whether the account has started.
        var isLeft: Bool { left.with(\.self) }

        /// Notes that the account has started. Does nothing if that is known.
        func leave() {
            if !left.change({ exchange(&$0, with: true) }) { state.change { $0.starting -= 1 } }
        }

        deinit { leave() }
    }

    fileprivate struct State: Sendable {
        var starting = 0
        /// The monotonic time at which the last account began; nil before the first.
        var last: Duration?

        mutating func begins(at now: Duration) -> Bool {
            if starting >= most, let last, now - last < pace { return false }
            (starting, last) = (starting + 1, now)
            return true
        }
    }

    private let state = Monitor(State())
    private let clock: HostClock

    init(clock: HostClock) { self.clock = clock }

    /// The number of accounts that are starting.
    var count: Int { state.with(\.starting) }

    /// Waits until an account may start.
    /// - Throws: `CancellationError` if the task is cancelled.
    func enter() async throws -> Place {
        while true {
            try Task.checkCancellation()
            let last = state.with(\.last) ?? .zero
            if state.change({ [clock] in $0.begins(at: clock.monotonic()) }) { return Place(state) }
            try await withThrowingTaskGroup { [state, clock] group in
                group.addTask { try await state.waitUnlessCancelled { $0.starting < Self.most } }
                group.addTask { try await clock.sleep(last + Self.pace - clock.monotonic()) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
