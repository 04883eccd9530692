import Model
import Synchronization

/// The check whether the machine slept, one for all accounts. Callable from any thread.
final class SleepWatch: Sendable {
    private struct State {
        var sleep: MachineSleep
        var last = 0
        var functions: [Int: @Sendable (Duration) -> Void] = [:]
    }

    private let state: Mutex<State>
    private let clock: HostClock

    init(_ clock: HostClock) {
        self.clock = clock
        state = Mutex(State(sleep: MachineSleep(clock)))
    }

    func add(_ function: @escaping @Sendable (Duration) -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.functions[state.last] = function
            return state.last
        }
    }

    func remove(_ number: Int) { state.withLock { $0.functions[number] = nil } }

    /// Reads the clocks, and tells the functions of a sleep.
    func check() {
        let (slept, functions) = state.withLock { state in
            let slept = state.sleep.observe(clock)
            return (slept, slept == nil ? [] : Array(state.functions.values))
        }
        if let slept { for function in functions { function(slept) } }
    }
}
