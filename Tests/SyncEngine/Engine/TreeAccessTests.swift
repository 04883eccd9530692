import Synchronization
import TestSupport
import Testing
import Threads

@testable import SyncEngine

@Suite struct TreeAccessTests {
    @Test("A task that is granted the tree between asking and waiting gets it", .timeLimit(.minutes(10)))
    func grantedAtOnce() async {
        let access = TreeAccess()
        await access.close()
        await access.acquire { access.grant() }
        #expect(access.state == .granted)
    }

    @Test(
        "A task that was granted the tree has it before it begins; one that asks later waits for another grant",
        .timeLimit(.minutes(10)))
    func promised() async {
        let access = TreeAccess()
        await access.close()
        await access.acquire {
            access.grant()
            #expect(access.state == .granted)
        }
        let second = Task { await access.acquire {} }
        access.release()
        await until { access.state == .requested }
        access.grant()
        await second.value
        #expect(access.state == .granted)
        access.release()
        #expect(access.state == .none)
    }

    @Test("The engine begins when no task has the tree any more", .timeLimit(.minutes(10)))
    func begins() async {
        let access = TreeAccess()
        await access.acquire {}
        let left = Mutex(false)
        let engine = Task {
            await access.close()
            #expect(left.withLock { $0 })
        }
        await until { !access.counts.with(\.isOpen) }
        left.withLock { $0 = true }
        access.release()
        await engine.value
        #expect(access.state == .none)
    }
}
