import Model
import Threads

/// Places for accounts that do at the same time what takes threads and open files: for those that start, from the opening
/// of their vaults until the processors have seen what their first polls found, or a pause; for those that poll because
/// their interval has passed; and for those that do what a check at rest has found.
///
/// If a hundred accounts did so at once, all of their databases and plugins would have threads at the same time, and
/// none of the accounts would be ready earlier. So only a few have a place at once. While these take long, as when their
/// servers do not answer, others get one, one after the other.
///
///     let place = try await starting.enter()
///     …
///     place.leave()
final class AccountPlaces: Sendable {
    /// The number of accounts that have a place at once.
    static let most = 8
    /// The time after which another account gets one in any case.
    static let pace = Duration.milliseconds(250)

    /// The place of an account. The account leaves it when the object is gone, if not before.
    final class Place: Sendable {
        private let state: Monitor<State>
        private let left = Monitor(false)

        fileprivate init(_ state: Monitor<State>) { self.state = state }

        /// Whether the account has left.
        var isLeft: Bool { left.with(\.self) }

        /// Notes that the account is done. Does nothing if that is known.
        func leave() {
            if !left.change({ exchange(&$0, with: true) }) { state.change { $0.taken -= 1 } }
        }

        deinit { leave() }
    }

    fileprivate struct State: Sendable {
        var taken = 0
        /// The monotonic time at which an account got the last place; nil before the first.
        var last: Duration?

        mutating func begins(at now: Duration) -> Bool {
            if taken >= most, let last, now - last < pace { return false }
            (taken, last) = (taken + 1, now)
            return true
        }
    }

    private let state = Monitor(State())
    private let clock: HostClock

    init(clock: HostClock) { self.clock = clock }

    /// The number of accounts that have a place.
    var count: Int { state.with(\.taken) }

    /// Waits until there is a place for an account.
    /// - Throws: `CancellationError` if the task is cancelled.
    func enter() async throws -> Place {
        while true {
            try Task.checkCancellation()
            let last = state.with(\.last) ?? .zero
            if state.change({ [clock] in $0.begins(at: clock.monotonic()) }) { return Place(state) }
            try await withThrowingTaskGroup { [state, clock] group in
                group.addTask { try await state.waitUnlessCancelled { $0.taken < Self.most } }
                group.addTask { try await clock.sleep(last + Self.pace - clock.monotonic()) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
