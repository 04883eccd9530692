import Synchronization
import TestSupport
import Testing
import Threads

@testable import Core

@Suite("The checks of accounts at rest")
struct RestChecksTests {
    @Test("an account with nothing to do is not woken, one that has is, and one that has left is not asked")
    func due() async throws {
        let checks = RestChecks()
        let signals = (0..<3).map { _ in Signal() }
        let asked = Atomic(0)
        _ = checks.add({ false }, waking: signals[0])
        _ = checks.add({ true }, waking: signals[1])
        let third = checks.add(
            {
                asked.add(1, ordering: .relaxed)
                return true
            }, waking: signals[2])
        checks.remove(third)
        checks.make()
        checks.make()
        #expect(signals.map { $0.take() } == [false, true, false])
        #expect(asked.load(ordering: .relaxed) == 0)
    }

    @Test("a check that hangs at its disk holds up no other account, and is not made twice")
    func hanging() async throws {
        let checks = RestChecks()
        let (gate, hung, other) = (Gate(), Signal(), Signal())
        _ = checks.add(
            {
                gate.passOnThread()
                return true
            }, waking: hung)
        let number = checks.add({ true }, waking: other)
        async let first: Void = onThread { checks.make() }
        await gate.untilReached()
        try await onThread { checks.make() }
        #expect(other.take() && !hung.take())
        checks.remove(number)
        gate.open()
        try await first
        #expect(hung.take() && !other.take())
        try await onThread { checks.make() }
        #expect(hung.take())
    }
}
