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
    private func gate(most: Int, hasRoom: Bool = true) -> RequestGate {
        RequestGate(most: most, now: { .zero }, hasRoom: { hasRoom })
    }

    @Test("C7: no more than the config allows are inside at a time, of whatever kind, and all get in")
    func most() async {
        let gate = gate(most: 3)
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let turn: Turn
                    do { turn = try await gate.enter(number % 2 == 0 ? .listing : .smallDownload) } catch { return }
                    counts.enter()
                    await Task.yield()
                    counts.leave()
                    turn.end()
                    turn.end()
                }
            }
        }
        let (inside, most, total) = counts.all
        #expect(inside == 0 && most <= 3 && total == 200)
    }

    @Test("a task that is cancelled while it waits takes no room")
    func cancelled() async throws {
        let gate = gate(most: 1)
        let turn = try await gate.enter(.listing)
        for _ in 0..<100 {
            let waiting = Task { try await gate.enter(.listing) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        }
        turn.end()
        try await gate.enter(.listing).end()
    }

    @Test("each kind has its own number, and a turn that is dropped is over")
    func kinds() async throws {
        let gate = gate(most: 64)
        for kind in RequestGate.Kind.allCases {
            #expect((0..<5).map { _ in gate.tryEnter(kind) }.count(where: \.self) == 4)
        }
        gate.leave(.listing)
        _ = try await gate.enter(.listing)
        #expect(gate.tryEnter(.listing) && !gate.tryEnter(.listing))
    }

    @Test(
        "what a body takes beyond a moment counts: where the way is narrow, more at a time help nobody",
        arguments: [50, 5_000])
    func bodies(milliseconds: Int) async throws {
        let now = Mutex(Duration.zero)
        let gate = RequestGate(most: 64, now: { now.withLock(\.self) }, hasRoom: { true })
        var turns: [Turn] = []
        for _ in 0..<300 {
            while turns.count < gate.limit(.listing) { turns.append(try await gate.enter(.listing)) }
            let turn = turns.removeFirst()
            turn.answerBegan(after: .milliseconds(20))
            // As many as are under way share the way.
            now.withLock { $0 += .milliseconds(milliseconds) * (turns.count + 1) / 4 }
            turn.end()
        }
        #expect(milliseconds == 50 ? gate.limit(.listing) > 6 : gate.limit(.listing) <= 6, "\(gate.limit(.listing))")
    }

    @Test(
        "the number grows while answers take no longer; beyond a modest one only where the process has room",
        arguments: [true, false])
    func grows(hasRoom: Bool) {
        let gate = gate(most: 64, hasRoom: hasRoom)
        var inside = 0
        for _ in 0..<500 {
            while gate.tryEnter(.smallDownload) { inside += 1 }
            gate.leave(.smallDownload, noting: .answered(after: .milliseconds(20)))
            inside -= 1
        }
        #expect(gate.limit(.smallDownload) == (hasRoom ? 64 : Concurrency.modest) && gate.limit(.listing) == 4)
    }
}
