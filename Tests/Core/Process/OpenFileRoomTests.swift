import Model
import Synchronization
import TestSupport
import Testing

@testable import Core

struct OpenFileRoomTests {
    @Test("H18: an account is refused by name while too few descriptors are left")
    func refused() async throws {
        // An eighth of the limit is kept.
        let left = Mutex(128 + OpenFileRoom.account)
        let room = OpenFileRoom(limit: 1024) { left.withLock(\.self) }
        try await room.enter("a")
        room.leave("a", isOpen: true)
        // So much is kept for the work of the account that is open.
        left.withLock { $0 += OpenFileRoom.work - 1 }
        let failure = await #expect(throws: Failure.self) { try await room.enter("b") }
        #expect(failure?.kind == .localIO)
        #expect(failure?.message.hasPrefix("Of 1024 open files too few are left to open the account b,") == true)
        left.withLock { $0 += 1 }
        try await room.enter("b")
        room.leave("b", isOpen: false)
        room.close("a")
        left.withLock { $0 -= OpenFileRoom.work }
        try await room.enter("c")
    }

    @Test("H18: an account waits while others are being opened, and then has what they left")
    func waits() async throws {
        let left = Mutex(128 + 2 * OpenFileRoom.account + OpenFileRoom.work)
        let room = OpenFileRoom(limit: 1024) { left.withLock(\.self) }
        try await room.enter("a")
        try await room.enter("b")
        let third = Task { try await room.enter("c") }
        let fourth = Task { try await room.enter("d") }
        let cancelled = Task { try await room.enter("e") }
        await until { room.waiting == 3 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        left.withLock { $0 -= 5 }
        room.leave("a", isOpen: false)
        #expect(room.waiting == 2)
        // The two have taken as much as was reserved for one. A third takes their place, and leaves too few.
        left.withLock { $0 -= OpenFileRoom.account - 5 }
        room.leave("b", isOpen: false)
        #expect(room.waiting == 1)
        left.withLock { $0 -= OpenFileRoom.work + 1 }
        room.leave("c", isOpen: false)
        let results = [await third.result, await fourth.result]
        #expect(results.count { (try? $0.get()) != nil } == 1)
    }
}
