import Model
import Synchronization
import TestSupport
import Threads

/// An executor with one thread for everything that a host does. A seed determines which of the ready jobs runs next.
/// When no job is ready, time advances to the end of the next sleep.
final class SeededExecutor: TaskExecutor {
    private struct State {
        var random: SeededGenerator
        var ready: [UnownedJob] = []
        var steps = 0
    }

    /// The error of a run that cannot go on: no job is ready and nothing sleeps, or thirty days have passed.
    struct Stuck: Error, CustomStringConvertible {
        var description: String
    }

    private let time = TestClock(start: Timestamp(seconds: 1_790_000_000))
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    /// The number of jobs that were run.
    var steps: Int { state.withLock(\.steps) }

    /// Returns the next random number of the seed.
    func random() -> UInt64 { state.withLock { $0.random.next() } }

    /// Tells whether an event happens that happens once in `times` times on average.
    func happens(onceIn times: UInt64) -> Bool { random() % times == 0 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    /// Runs a task, and everything that the task starts, on the calling thread.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let result = Outcome<Value>()
        let source = HostRandom.Source(next: { self.random() }, now: { self.time.now })
        _ = Workplace.$single.withValue(self) {
            HostRandom.$source.withValue(source) {
                Task(executorPreference: self) {
                    let value: Result<Value, any Error>
                    do { value = .success(try await body()) } catch { value = .failure(error) }
                    result.value.withLock { $0 = value }
                }
            }
        }
        while true {
            if let value = result.value.withLock({ $0 }) { return try value.get() }
            if let job = next() {
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else if !passTime() {
                throw Stuck(description: "nothing goes on any more")
            }
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, any Error>?>(nil)
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            state.steps += 1
            return state.ready.remove(at: Int(state.random.next() % UInt64(state.ready.count)))
        }
    }

    // MARK: Time

    var clock: HostClock { time.host }

    /// Advances the time to the end of the first sleep.
    /// - Returns: false if nothing sleeps, or if thirty days have passed.
    private func passTime() -> Bool { time.passToNext() && time.monotonic < .seconds(30 * 86_400) }
}
