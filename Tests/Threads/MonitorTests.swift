import TestSupport
import Testing
import Threads

@Suite struct MonitorTests {
    @Test("Those who wait for room get it in the order in which they came, each once")
    func order() async throws {
        let room = Monitor(0)
        let got = Monitor<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let waiting = room.waiting
                group.addTask {
                    await room.wait { room in
                        guard room > 0 else { return false }
                        room -= 1
                        return true
                    }
                    got.change { $0.append(number) }
                }
                // The next task starts when this task waits.
                while room.waiting == waiting { await Task.yield() }
            }
            for number in 0..<20 {
                room.change { $0 += 1 }
                while got.with(\.count) <= number { await Task.yield() }
            }
        }
        #expect(got.with { $0 } == Array(0..<20))
        #expect(room.with { $0 } == 0)
    }

    @Test("What is there in one change is shared out among all who wait, and never twice", arguments: [1, 7, 50])
    func atOnce(_ count: Int) async throws {
        let room = Monitor(0)
        let got = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await room.wait { room in
                        guard room > 0 else { return false }
                        room -= 1
                        return true
                    }
                    got.add(1)
                }
            }
            while room.waiting < count { await Task.yield() }
            room.change { $0 = count + 3 }
        }
        #expect(got.value == count)
        #expect(room.with { $0 } == 3)
    }

    @Test("A wait that is cancelled has taken nothing, whenever that happens")
    func cancelled() async throws {
        let room = Monitor(0)
        for round in 0..<500 {
            let wait = Task {
                try await room.waitUnlessCancelled { room in
                    guard room > 0 else { return false }
                    room -= 1
                    return true
                }
            }
            for _ in 0..<(round % 5) { await Task.yield() }
            if round % 3 == 0 { room.change { $0 += 1 } }
            wait.cancel()
            let isEntered: Bool
            do {
                try await wait.value
                isEntered = true
            } catch is CancellationError { isEntered = false }
            #expect(room.with { $0 } == (round % 3 == 0 && !isEntered ? 1 : 0))
            room.change { $0 = 0 }
            #expect(room.waiting == 0)
        }
    }

    @Test("A signal is kept for whoever waits next, several are one, and a cancelled wait ends")
    func signal() async {
        let signal = Signal()
        signal.send()
        signal.send()
        #expect(await signal.wait())
        let wait = Task { await signal.wait() }
        wait.cancel()
        #expect(await !wait.value)
        signal.send()
        #expect(signal.take() && !signal.take())
        signal.send()
        #expect(await signal.wait())
    }
}
