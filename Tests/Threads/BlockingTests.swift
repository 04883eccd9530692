import Glibc
import TestSupport
import Testing

@testable import Threads

@Suite struct BlockingTests {
    @Test("Tasks that block on an executor of their own run on its threads, and it ends with them")
    func executor() async {
        let executor = BlockingExecutor(name: "test", threads: 3)
        let gate = Gate()
        // Each task blocks its thread until all three tasks have arrived.
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask(executorPreference: executor) { gate.passOnThread() }
            }
            await gate.untilReached(times: 3)
            gate.open()
        }
        executor.close()
    }

    @Test("H11: work that does not end keeps its thread, and what comes behind it gets another; at rest all end")
    func heldUp() async {
        let executor = BlockingExecutor(name: "test", threads: 2, longestWork: .milliseconds(1), rest: .milliseconds(1))
        let (gate, done) = (Gate(), Counter())
        for _ in 0..<5 { executor.run { gate.passOnThread() } }
        await gate.untilReached(times: 5)
        executor.run { _ = done.add(1) }
        await until { done.value == 1 }
        gate.open()
        await until { executor.count == 0 }
        _ = await Task(executorPreference: executor) { done.add(1) }.value
        #expect(done.value == 2)
        executor.close()
    }

    @Test("H18: the tasks of an account run one at a time on threads that others share, in the order of the asking")
    func shared() async {
        let threads = BlockingExecutor(name: "test", threads: 3)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                let executor = SerialBlockingExecutor(on: threads)
                let own = Counter()
                for _ in 0..<200 {
                    group.addTask(executorPreference: executor) {
                        defer { own.add(-1) }
                        return own.add(1) == 1
                    }
                }
            }
            for await isAlone in group { #expect(isAlone) }
        }
        threads.close()
    }

    @Test("A queue does one thing after the other, in the order of the asking, and hands on what is thrown")
    func queue() async throws {
        struct Odd: Error {}
        let queue = BlockingQueue(label: "test")
        let running = Counter()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await queue.run {
                        defer { running.add(-1) }
                        return running.add(1) == 1
                    }
                }
            }
            for try await isAlone in group { #expect(isAlone) }
        }
        await #expect(throws: Odd.self) { try await queue.run { throw Odd() } }
        await #expect(throws: Odd.self) { try await runBlocking { throw Odd() } }
    }

    @Test(
        "Blocking work runs on threads of its own, however much there is, and takes none from the tasks of the process")
    func threads() async {
        let gate = Gate()
        let count = 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await runBlocking {
                        gate.passOnThread()
                        return try? Files.text("/proc/thread-self/comm")
                    }
                }
            }
            await gate.untilReached(times: count)
            gate.open()
            for await name in group { #expect(name == "blocking work\n") }
        }
    }

    @Test("Work that a thread waits for ends with the wait, also when it is called off or nobody waits for it")
    func wait() async throws {
        let waiting = BlockingWait()
        #expect(try await runBlocking { try waiting.wait { 7 } } == 7)
        let gate = Gate()
        let ended = Counter()
        let call = Task {
            try await runBlocking {
                try waiting.wait {
                    await gate.pass()
                    ended.add(1)
                    try Task.checkCancellation()
                }
            }
        }
        await gate.untilReached()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(ended.value == 1 && waiting.isCancelled)
    }

    @Test("GL5: who is in a hurry is let go while a thread hangs, and what they asked for is not begun")
    func passedOver() async throws {
        let thread = try SerialThread(name: "test")
        let gate = Gate()
        let hanging = Task {
            try await thread.run(isHurried: true) {
                gate.passOnThread()
            }
        }
        await gate.untilReached()
        let begun = Counter()
        let second = Task { try await thread.run(isHurried: true) { begun.add(1) } }
        let patient = Task { try await thread.run { 1 } }
        // The thread is passed over repeatedly until the second caller has waited too.
        let passing = Task {
            while !Task.isCancelled {
                thread.passOver()
                await Task.yield()
            }
        }
        await #expect(throws: PassedOver.self) { try await hanging.value }
        await #expect(throws: PassedOver.self) { try await second.value }
        passing.cancel()
        await passing.value
        gate.open()
        #expect(try await patient.value == 1)
        #expect(begun.value == 0)
        await thread.close()
    }
}
