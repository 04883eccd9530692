import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Threads

@Suite struct PolledSocketTests {
    private func pair() throws -> (PolledSocket, PolledSocket) {
        var ends: [Int32] = [0, 0]
        #expect(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
                == 0)
        return (try PolledSocket(ends[0]), try PolledSocket(ends[1]))
    }

    @Test("What one end writes the other reads, also far more than the system holds for them, and then the end")
    func exchange() async throws {
        let (one, other) = try pair()
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let writing = Task {
            try await one.write(sent)
            one.endWriting()
        }
        var received: [UInt8] = []
        while true {
            let piece = try await other.read(atMost: 10_000)
            if piece.isEmpty { break }
            received += piece
        }
        try await writing.value
        #expect(received == sent)
        // The other direction is open.
        try await other.write([1])
        #expect(try await one.read(atMost: 9) == [1])
    }

    @Test("A task that reads, writes or waits for the other end goes on when it is cancelled, or the socket is ended")
    func ends() async throws {
        for isCancelled in [true, false] {
            let (one, other) = try pair()
            let waits: [@Sendable (PolledSocket) async throws -> Void] = [
                { _ = try await $0.read(atMost: 1) },
                { try await $0.write([UInt8](repeating: 0, count: 10_000_000)) },
                { try await $0.untilGone() },
            ]
            let tasks = waits.map { wait in Task { try await wait(one) } }
            if isCancelled { for task in tasks { task.cancel() } } else { one.end() }
            let results = await [tasks[0].result, tasks[1].result, tasks[2].result]
            for result in results where isCancelled {
                #expect(throws: CancellationError.self) { try result.get() }
            }
            if !isCancelled {
                try results[0].get()
                #expect(throws: SocketError.self) { try results[1].get() }
                try results[2].get()
            }
            withExtendedLifetime(other) {}
        }
    }

    @Test("A process with sockets is not ended by a reader that goes: a write fails, and says so")
    func goneReader() async throws {
        let (one, other) = try pair()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        #expect(write(ends[1], "x", 1) == -1 && errno == EPIPE)
        close(ends[1])
        other.end()
        await #expect(throws: SocketError.self) { try await one.write([1]) }
    }

    @Test("A socket that listens hands out connections, and fails once it is ended")
    func listening() async throws {
        let listening = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        #expect(listen(listening, 9) == 0)
        let socket = try PolledSocket(listening)
        var (address, size) = (sockaddr(), socklen_t(MemoryLayout<sockaddr>.size))
        #expect(getsockname(listening, &address, &size) == 0)
        let accepting = Task { try await socket.accept() }
        let client = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(connect(client, &address, size) == 0)
        let accepted = try await accepting.value
        for descriptor in [client, accepted] { close(descriptor) }
        let next = Task { try await socket.accept() }
        socket.end()
        await #expect(throws: SocketError.self) { try await next.value }
        await #expect(throws: SocketError.self) { try await socket.accept() }
    }

    @Test("The other end is gone when it is closed, not when it only writes no more")
    func gone() async throws {
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let (socket, other) = (try PolledSocket(ends[0]), ends[1])
        let isGone = Mutex(false)
        let waiting = Task {
            try await socket.untilGone()
            isGone.withLock { $0 = true }
        }
        shutdown(other, Int32(SHUT_WR))
        #expect(try await socket.read(atMost: 1) == [])
        try await socket.write([7])
        var byte: UInt8 = 0
        #expect(recv(other, &byte, 1, 0) == 1 && byte == 7)
        #expect(!isGone.withLock { $0 })
        close(other)
        try await waiting.value
        #expect(isGone.withLock { $0 })
    }

    @Test("A socket that is not referred to any more is closed, and what comes late for it reaches no other")
    func closed() async throws {
        var descriptors: Set<Int32> = []
        for number in 0..<2_000 {
            let (one, other) = try pair()
            descriptors.formUnion([one.descriptor, other.descriptor])
            try await one.write([UInt8(truncatingIfNeeded: number)])
            #expect(try await other.read(atMost: 2) == [UInt8(truncatingIfNeeded: number)])
        }
        #expect(descriptors.count < 1_000)
    }

    @Test("Each signal is heard by everyone who heeds it, also if it came before somebody waited, and ends nothing")
    func signals() async throws {
        let (first, second) = (try Signals([SIGUSR2, SIGWINCH]), try Signals([SIGUSR2]))
        kill(getpid(), SIGUSR2)
        var (one, other) = (first.makeAsyncIterator(), second.makeAsyncIterator())
        #expect(await one.next() == SIGUSR2)
        #expect(await other.next() == SIGUSR2)
        kill(getpid(), SIGWINCH)
        #expect(await one.next() == SIGWINCH)
        let waiting = Task { [other] in
            var other = other
            return await other.next()
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    /// The descriptors of this process by which something waits.
    private static var polls: Set<Int32> {
        Set(
            (3..<Int32(100)).filter { number in
                var target = [UInt8](repeating: 0, count: 64)
                let count = readlink("/proc/self/fd/\(number)", &target, target.count)
                return count > 0 && String(decoding: target.prefix(count), as: UTF8.self).hasSuffix("[eventpoll]")
            })
    }

    @Test("Whoever closes the descriptor by which the poll thread waits ends the process, with a sentence and code 70")
    func lostPoll() async {
        let result = await #expect(
            processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
        ) {
            let others = Self.polls
            let (one, other) = try PolledSocketTests().pair()
            for number in Self.polls.subtracting(others) { close(number) }
            // The thread notices when it has heard of the next event.
            try await other.write([1])
            _ = try await one.read(atMost: 1)
            try await Task.sleep(for: .seconds(600))
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            said.contains("larder: something in this process closed a descriptor by which the host waits"), "\(said)")
    }
}
