import Model
import Synchronization
import TestSupport
import Threads

/// One thread for everything that a host does. Which of the jobs that are ready is run next says a seed; time passes, all at once, when
/// none is.
final class SeededExecutor: TaskExecutor {
    private struct Sleeper {
        var until: Duration
        var number: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var random: SeededGenerator
        var ready: [UnownedJob] = []
        var sleepers: [Sleeper] = []
        var slept = 0
        var time = Duration.zero
        var steps = 0
    }

    /// Nothing is ready and nobody sleeps, or nothing but watching has been done for days.
    struct Stuck: Error, CustomStringConvertible {
        var description: String
    }

    private static let start = Timestamp(seconds: 1_790_000_000)
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
        let source = HostRandom.Source(next: { self.random() }, now: { Self.start + self.state.withLock(\.time) })
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

    var clock: HostClock {
        HostClock(
            now: { Self.start + self.state.withLock(\.time) }, monotonic: { self.state.withLock(\.time) },
            sleep: { try await self.sleep($0) })
    }

    /// Lets the first of those who sleep go on.
    private func passTime() -> Bool {
        let first: Sleeper? = state.withLock { state in
            guard
                let index = state.sleepers.indices.min(by: { left, right in
                    let (left, right) = (state.sleepers[left], state.sleepers[right])
                    return (left.until, left.number) < (right.until, right.number)
                })
            else { return nil }
            state.time = max(state.time, state.sleepers[index].until)
            return state.sleepers.remove(at: index)
        }
        first?.continuation.resume()
        return first != nil && state.withLock(\.time) < .seconds(30 * 86_400)
    }

    private func sleep(_ duration: Duration) async throws {
        let number = state.withLock { state in
            state.slept += 1
            return state.slept
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled { return true }
                    state.sleepers.append(
                        Sleeper(until: state.time + duration, number: number, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper: Sleeper? = state.withLock { state in
                state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
