import Testing

@testable import Threads

struct FreedMemoryTests {
    @Test("H18: what accounts free when they come to rest is given back in one go, and not where nothing was freed")
    func notes() {
        let memory = FreedMemory()
        #expect(!memory.takeIfDue(at: .seconds(1_000)))
        for second in [1_000, 1_010, 1_019] { memory.note(at: .seconds(second)) }
        #expect(!memory.takeIfDue(at: .seconds(1_019)))
        #expect(memory.takeIfDue(at: .seconds(1_020)))
        #expect(!memory.takeIfDue(at: .seconds(2_000)))
        memory.note(at: .seconds(2_000))
        #expect(memory.takeIfDue(at: .seconds(2_020)))
    }
}
