import Synchronization
import TestSupport
import Testing
import Threads

@testable import SyncEngine

@Suite struct TreeAccessTests {
    @Test("Who is let in between asking and waiting gets in", .timeLimit(.minutes(10)))
    func admittedAtOnce() async {
        let access = TreeAccess()
        await access.close()
        await access.acquire { access.grant() }
        #expect(access.current == .granted)
    }

    @Test(
        "Who was let in and has not come yet counts as inside; who asks later waits for another turn",
        .timeLimit(.minutes(10)))
    func promised() async {
        let access = TreeAccess()
        await access.close()
        await access.acquire {
            access.grant()
            #expect(access.current == .granted)
        }
        let second = Task { await access.acquire {} }
        access.release()
        await until { access.current == .requested }
        access.grant()
        await second.value
        #expect(access.current == .granted)
        access.release()
        #expect(access.current == .none)
    }

    @Test("The engine begins when nobody is inside any more", .timeLimit(.minutes(10)))
    func begins() async {
        let access = TreeAccess()
        await access.acquire {}
        let left = Mutex(false)
        let engine = Task {
            await access.close()
            #expect(left.withLock { $0 })
        }
        await until { !access.state.with(\.isOpen) }
        left.withLock { $0 = true }
        access.release()
        await engine.value
        #expect(access.current == .none)
    }
}
