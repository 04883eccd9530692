import Synchronization
import TestSupport
import Testing
import Threads

@testable import SyncEngine

@Suite struct TreeRestTests {
    @Test("Who is let in between asking and waiting gets in", .timeLimit(.minutes(10)))
    func admittedAtOnce() async {
        let rest = TreeRest()
        await rest.close()
        await rest.enter { rest.admit() }
        #expect(rest.visitors == .inside)
    }

    @Test(
        "Who was let in and has not come yet counts as inside; who asks later waits for another turn",
        .timeLimit(.minutes(10)))
    func promised() async {
        let rest = TreeRest()
        await rest.close()
        await rest.enter {
            rest.admit()
            #expect(rest.visitors == .inside)
        }
        let second = Task { await rest.enter {} }
        rest.leave()
        await until { rest.visitors == .waiting }
        rest.admit()
        await second.value
        #expect(rest.visitors == .inside)
        rest.leave()
        #expect(rest.visitors == .none)
    }

    @Test("The engine begins when nobody is inside any more", .timeLimit(.minutes(10)))
    func begins() async {
        let rest = TreeRest()
        await rest.enter {}
        let left = Mutex(false)
        let engine = Task {
            await rest.close()
            #expect(left.withLock { $0 })
        }
        await until { !rest.state.with(\.isOpen) }
        left.withLock { $0 = true }
        rest.leave()
        await engine.value
        #expect(rest.visitors == .none)
    }
}
