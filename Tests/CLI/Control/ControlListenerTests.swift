import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import Threads

@testable import larder

/// The control socket as raw bytes meet it, with answers of the tests' own.
@Suite struct ControlListenerTests {
    /// Listens while the body runs.
    private func listening(
        most: Int = 128, clock: HostClock = .system, answering respond: @escaping ControlListener.Responder,
        _ body: (_ socket: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let socket = try ControlSocket(in: "\(folder)/sockets")
            let listener = try ControlListener(
                socket.descriptor, most: most, logger: CollectedLog().logger, clock: clock, answering: respond)
            let run = Task { await listener.run() }
            do { try await body(socket.path) } catch {
                run.cancel()
                throw error
            }
            run.cancel()
            await run.value
        }
    }

    private func connect(_ path: String) throws -> PolledSocket {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        try #require(UnixAddress(path)?.call(Glibc.connect, descriptor) == 0)
        return try PolledSocket(descriptor)
    }

    /// Sends bytes, and returns all that comes back.
    private func answer(of path: String, to text: String, endsWriting: Bool = false) async throws -> String {
        let socket = try connect(path)
        do { try await socket.write(Array(text.utf8)) } catch is SocketError {}
        if endsWriting { socket.endWriting() }
        var answer: [UInt8] = []
        while true {
            // A refused connection is closed with the request in it, of which the system tells after the answer.
            let piece: [UInt8]
            do { piece = try await socket.read(atMost: 65_536) } catch let error as SocketError where !answer.isEmpty {
                guard error.code == ECONNRESET else { throw error }
                piece = []
            }
            if piece.isEmpty { return String(decoding: answer, as: UTF8.self) }
            answer += piece
        }
    }

    /// Answers with the method, the target and the body, or the failure.
    private static let echo: ControlListener.Responder = { read, connection in
        switch read {
        case .success(let message):
            let text = "\(message.method) \(message.target) \(String(decoding: message.body, as: UTF8.self))"
            try await connection.answer("200 OK", Array(text.utf8))
        case .failure(let failure):
            try await connection.answer(failure.kind.status, Array(JSONValue(error: failure).text.utf8))
        }
    }

    @Test("H9: requests in each form that HTTP/1.1 knows are understood, also of a client that only writes no more")
    func requests() async throws {
        try await listening(answering: Self.echo) { socket in
            let head = "POST /a HTTP/1.1\r\nHost: x\r\n"
            for (text, body) in [
                ("\(head)Content-Length: 3\r\n\r\nabc", "abc"),
                ("\(head)Content-Length: 0\r\n\r\n", ""),
                ("\(head)\r\n", ""),
                ("\(head)Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"),
                ("\r\n\(head)Content-Length: 3\r\n\r\nabcGET /second HTTP/1.1\r\n\r\n", "abc"),
            ] {
                for endsWriting in [false, true] {
                    let answer = try await answer(of: socket, to: text, endsWriting: endsWriting)
                    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\nPOST /a \(body)"))
                }
            }
            let expecting = try connect(socket)
            try await expecting.write(Array("\(head)Content-Length: 3\r\nExpect: 100-continue\r\n\r\n".utf8))
            #expect(try await expecting.read(atMost: 500) == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            try await expecting.write(Array("abc".utf8))
            let answer = String(decoding: try await expecting.read(atMost: 500), as: UTF8.self)
            #expect(answer.hasSuffix("POST /a abc"))
        }
    }

    @Test("H9: what is no request gets a refusal in words, and one that never comes ends its connection in time")
    func nonsense() async throws {
        let clock = TestClock()
        try await listening(clock: clock.host, answering: Self.echo) { socket in
            for text in [
                "hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                String(repeating: "a", count: 70_000), "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
                "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            ] {
                let answer = try await answer(of: socket, to: text)
                #expect(
                    answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && answer.contains(#""code":"badData""#), "\(text)"
                )
            }
            let cut = try await answer(
                of: socket, to: "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab", endsWriting: true)
            #expect(cut.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(try await answer(of: socket, to: "", endsWriting: true) == "")
            // The connections before have limits of their own until their ends are noticed.
            await until { clock.sleeping.isEmpty }
            let silent = try connect(socket)
            try await silent.write(Array("GET / HTT".utf8))
            await clock.untilSleeping(for: .seconds(30))
            clock.advance(.seconds(30))
            while try await !silent.read(atMost: 500).isEmpty {}
        }
    }

    @Test(
        "H9: a thousand watchers are told at once, one that does not read holds up no other, and all that go are noticed"
    )
    func watchers() async throws {
        let watching = Mutex(0)
        let told = Monitor(false)
        try await listening(most: 1_100) { _, connection in
            watching.withLock { $0 += 1 }
            defer { watching.withLock { $0 -= 1 } }
            try await connection.beginEvents()
            await told.wait { $0 }
            // More than the system holds for a client that does not read.
            try await connection.send([UInt8](repeating: 0x61, count: 1 << 18))
            try await connection.endEvents()
            try await connection.untilGone()
        } _: { path in
            var sockets: [PolledSocket] = []
            for _ in 0..<1_024 {
                let socket = try connect(path)
                try await socket.write(Array("GET /v1/host HTTP/1.1\r\n\r\n".utf8))
                sockets.append(socket)
            }
            await until { watching.withLock { $0 } == sockets.count }
            told.change { $0 = true }
            // Each second one reads.
            await withThrowingTaskGroup(of: Void.self) { group in
                for index in stride(from: 0, to: sockets.count, by: 2) {
                    group.addTask { [socket = sockets[index]] in
                        var ending: [UInt8] = []
                        while !ending.elementsEqual("\r\n0\r\n\r\n".utf8) {
                            let piece = try await socket.read(atMost: 1 << 18)
                            guard !piece.isEmpty else { throw SocketError(code: EPIPE) }
                            ending = Array((ending + piece).suffix(7))
                        }
                    }
                }
                do { try await group.waitForAll() } catch { Issue.record(error) }
            }
            #expect(watching.withLock { $0 } == sockets.count)
            sockets = []
            await until { watching.withLock { $0 } == 0 }
        }
    }

    @Test("H9: a connection too many is refused with the reason, and there is room again when another has ended")
    func busy() async throws {
        let gate = Gate()
        let begun = Mutex(0)
        try await listening(most: 2) { _, connection in
            begun.withLock { $0 += 1 }
            await gate.pass()
            try await connection.answer("200 OK", [])
        } _: { path in
            let request = "GET / HTTP/1.1\r\n\r\n"
            let waiting = (0..<2).map { _ in Task { try await answer(of: path, to: request) } }
            await until { begun.withLock { $0 } == 2 }
            #expect(try await answer(of: path, to: request).hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            // So is a client that begins to send its request after the refusal has come.
            let late = try connect(path)
            #expect(String(decoding: try await late.read(atMost: 8), as: UTF8.self) == "HTTP/1.1")
            try await late.write(Array(request.utf8))
            #expect(String(decoding: try await late.read(atMost: 4), as: UTF8.self) == " 503")
            // Clients that do not go away keep no other from a refusal.
            let staying = try (0..<40).map { _ in try connect(path) }
            #expect(try await answer(of: path, to: "").hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            gate.open()
            for task in waiting { #expect(try await task.value.hasPrefix("HTTP/1.1 200 OK\r\n")) }
            while try await !answer(of: path, to: request).hasPrefix("HTTP/1.1 200 OK\r\n") {}
            #expect(begun.withLock { $0 } == 3)
            _ = staying
        }
    }
}
