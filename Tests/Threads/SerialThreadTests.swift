import TestSupport
import Testing

@testable import Threads

@Suite struct SerialThreadTests {
    @Test("GL3: calls are made one after the other, on one thread, in the order of the asking")
    func order() async throws {
        let thread = try SerialThread(name: "test")
        let places = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { try await thread.run { thread.isCurrent } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(places == Array(repeating: true, count: 50))
        #expect(!thread.isCurrent)
        await thread.close()
        await thread.close()
        await #expect(throws: CancellationError.self) { try await thread.run { 1 } }
    }

    @Test("H18: a thread without work ends, and the next call has one again")
    func rest() async throws {
        let thread = try SerialThread(name: "test", rest: .milliseconds(1))
        for number in 0..<20 {
            if number.isMultiple(of: 2) { await until { !thread.isRunning } }
            #expect(try await thread.run { thread.isCurrent })
            #expect(!thread.isCurrent)
        }
        await until { !thread.isRunning }
        await thread.close()
        await #expect(throws: CancellationError.self) { try await thread.run { 1 } }
    }
}
