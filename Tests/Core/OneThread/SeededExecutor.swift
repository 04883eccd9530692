import Model
import Synchronization
import TestSupport
import Threads

/// One thread for everything that a host does. Which of the jobs that are ready is run next says a seed; time passes, all at once, when
/// none is.
final class SeededExecutor: TaskExecutor {
    private struct State {
        var random: SeededGenerator
        var ready: [UnownedJob] = []
        var steps = 0
    }

    /// Nothing is ready and nobody sleeps, or nothing but watching has been done for days.
    struct Stuck: Error, CustomStringConvertible {
        var description: String
    }

    private let time = TestClock(start: Timestamp(seconds: 1_790_000_000))
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    /// How many jobs were run.
    var steps: Int { state.withLock(\.steps) }

    /// The next of the numbers that the seed makes.
    func random() -> UInt64 { state.withLock { $0.random.next() } }

    /// Whether something happens that happens once in so many times.
    func happens(onceIn times: UInt64) -> Bool { random() % times == 0 }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    /// Runs a task, with all that it sets off, on the calling thread.
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

    /// Lets the first of those who sleep go on.
    private func passTime() -> Bool { time.passToNext() && time.monotonic < .seconds(30 * 86_400) }
}
