import Synchronization
import Threads

/// The checks of accounts at rest: what no event tells of is looked for from time to time, for all accounts of a process
/// at once. An account that has nothing to do is not woken.
///
///     let number = checks.add({ !tree.isInPlace }, waking: signal)
///     defer { checks.remove(number) }
final class RestChecks: Sendable {
    private struct Check {
        var isDue: @Sendable () -> Bool
        var signal: Signal
        /// Whether a thread is at this check.
        var isUnderWay = false
    }

    private struct State {
        var last = 0
        var checks: [Int: Check] = [:]
    }

    private let state = Mutex(State())

    /// Adds a check.
    /// - Parameters:
    ///   - isDue: Tells whether the account has something to do. Called on a thread that may block.
    ///   - signal: The signal that wakes the account.
    /// - Returns: The check's number.
    func add(_ isDue: @escaping @Sendable () -> Bool, waking signal: Signal) -> Int {
        state.withLock { state in
            state.last += 1
            state.checks[state.last] = Check(isDue: isDue, signal: signal)
            return state.last
        }
    }

    func remove(_ number: Int) { state.withLock { _ = $0.checks.removeValue(forKey: number) } }

    /// Makes all checks, one after the other. The caller must be allowed to block. A check that an earlier call still
    /// makes, because its disk does not answer, is left out, so that it holds up no other account.
    func make() {
        for number in state.withLock({ $0.checks.keys.sorted() }) {
            let check = state.withLock { state -> Check? in
                guard let check = state.checks[number], !check.isUnderWay else { return nil }
                state.checks[number]?.isUnderWay = true
                return check
            }
            guard let check else { continue }
            if check.isDue() { check.signal.send() }
            state.withLock { $0.checks[number]?.isUnderWay = false }
        }
    }
}
