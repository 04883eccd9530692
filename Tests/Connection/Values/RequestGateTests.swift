import Synchronization
import Testing

@testable import Connection

private final class Counts: Sendable {
    private let counts = Mutex((inside: 0, most: 0, total: 0))
    var all: (inside: Int, most: Int, total: Int) { counts.withLock { $0 } }

    func enter() {
        counts.withLock { counts in
            counts.inside += 1
            counts.most = max(counts.most, counts.inside)
            counts.total += 1
        }
    }

    func leave() { counts.withLock { $0.inside -= 1 } }
}

struct RequestGateTests {
    @Test("C7: no more than its width are inside at a time, and all get in")
    func width() async {
        let gate = RequestGate(width: 3)
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do { try await gate.enter() } catch { return }
                    counts.enter()
                    await Task.yield()
                    counts.leave()
                    gate.leave()
                }
            }
        }
        let (inside, most, total) = counts.all
        #expect(inside == 0 && most <= 3 && total == 200)
    }

    @Test("a task that is cancelled while it waits takes no room")
    func cancelled() async throws {
        let gate = RequestGate(width: 1)
        try await gate.enter()
        for _ in 0..<100 {
            let waiting = Task { try await gate.enter() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        gate.leave()
        try await gate.enter()
        gate.leave()
    }
}
