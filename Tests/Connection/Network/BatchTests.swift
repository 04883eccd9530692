import DemoServer
import Logging
import Model
import Synchronization
import TestServer
import TestSupport
import Testing
import Transfer

@testable import Connection

/// One who takes the files of a batch into memory.
private final class Receiver: FileBatchReceiver {
    struct State: Sendable {
        var bytes: [Int: [UInt8]] = [:]
        var ends: [Int: FileBatchEnd] = [:]
        var hasEnded = false
        var underWay = 0
        var mostUnderWay = 0
    }

    let state = Mutex(State())
    private let mayStart: @Sendable (Int) -> Bool
    private let onTake: @Sendable (Int) -> Bool

    init(
        mayStart: @escaping @Sendable (Int) -> Bool = { _ in true },
        onTake: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) { (self.mayStart, self.onTake) = (mayStart, onTake) }

    func mayStart(_ file: Int) -> FileBatchStart {
        guard mayStart(file) else { return .never }
        state.withLock { state in
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
        }
        return .now
    }

    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool {
        state.withLock { $0.bytes[file] = [] }
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool {
        guard onTake(file) else { return false }
        let bytes = Array(bytes)
        state.withLock { $0.bytes[file, default: []] += bytes }
        return true
    }

    func end(_ file: Int, at place: Int, _ end: FileBatchEnd) {
        state.withLock { state in
            state.underWay -= 1
            state.ends[file] = end
        }
    }

    func ended() { state.withLock { $0.hasEnded = true } }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// The files that came whole.
    var complete: [Int: String] {
        state.withLock { state in
            state.ends.filter { if case .complete = $0.value { true } else { false } }.keys
                .reduce(into: [:]) { $0[$1] = String(decoding: state.bytes[$1] ?? [], as: UTF8.self) }
        }
    }

    /// Takes the answer of a file that was not ordinary.
    func first(_ file: Int) -> FirstAnswer? {
        state.withLock { state in
            guard case .first(let answer)? = state.ends[file] else { return nil }
            state.ends[file] = nil
            return answer
        }
    }
}

/// Downloads of small files in batches.
@Suite struct BatchTests {
    private func batch(_ files: [(path: String, version: String, size: Int)]) -> FileBatch {
        var batch = FileBatch()
        for file in files {
            let (path, version) = (Array(file.path.utf8), Array(file.version.utf8))
            path.withUnsafeBytes { path in
                version.withUnsafeBytes { _ = batch.add(path: path, version: $0, size: Int64(file.size)) }
            }
        }
        return batch
    }

    private func list(_ connection: Connection) async throws -> [ListedItem] {
        var items: [ListedItem] = []
        _ = try await connection.listings.list(.root) { entries in items += entries }
        return items
    }

    private func connected(
        _ server: RawServer, limits: Limits = Limits(connections: 2), _ body: (Connection) async throws -> Void
    ) async throws {
        let connection = Connection(
            bookmark: .at(server.url), credentials: .basic(username: "ada", password: "x"), limits: limits,
            logger: Logger(label: "test"))
        try await closing(connection) {
            _ = try await connection.connect()
            try await body(connection)
        }
    }

    private static func ok(_ text: String, _ more: String = "") -> String {
        "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\(more)Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    @Test("S53: small files come in a batch from every server that names their versions", arguments: ServerKind.all)
    func everyServer(_ kind: ServerKind) async throws {
        let files = Dictionary(
            uniqueKeysWithValues: (0..<40).map { ("f \($0)%é.txt", "content \($0)") } + [("empty", "")])
        try await Served.running(kind, files, limits: Limits(connections: 3)) { _, connection in
            _ = try await connection.connect()
            var listed: [ListedItem] = []
            // A server that calls a version weak while it is new calls it strong a moment later.
            try await until {
                listed = try await self.list(connection).filter { $0.kind == .file }
                return kind.etags != .weakAtFirst || listed.allSatisfy { $0.etag?.strength == .strong }
            }
            let strong = listed.filter { $0.etag?.strength == .strong }
            #expect(kind.etags == .none ? strong.isEmpty : strong.count == files.count)
            guard !strong.isEmpty else { return }
            let batch = batch(strong.map { ($0.path.text, $0.etag?.opaque ?? "", Int($0.size ?? 0)) })
            let receiver = Receiver()
            #expect(connection.downloads.takesBatches)
            let run = connection.downloads.download(batch, for: receiver)
            #expect(run != nil)
            await until { receiver.hasEnded }
            let (complete, most) = (receiver.complete, receiver.state.withLock { $0.mostUnderWay })
            #expect(most <= 3)
            for (index, item) in strong.enumerated() {
                guard let text = complete[index] else {
                    // What came in another way goes on by itself, and ends as well.
                    let sink = MemorySink()
                    _ = try await connection.downloads.get(
                        item.path, request: DownloadRequest(version: item.etag, size: item.size),
                        after: receiver.first(index), into: sink)
                    #expect(sink.bytes == Array((files[item.path.name] ?? "-").utf8))
                    continue
                }
                #expect(text == files[item.path.name])
            }
            // The account's turns are free again.
            for _ in 0..<3 { _ = try await list(connection) }
        }
    }

    @Test("S53: each request asks for its version, with the account's proof and an id of its own")
    func requests() async throws {
        try await RawServer.running(answering: { _ in Self.ok("abc") }) { server in
            try await connected(server) { connection in
                let receiver = Receiver()
                _ = connection.downloads.download(batch((0..<50).map { ("/a \($0)%", "v1", 3) }), for: receiver)
                await until { receiver.hasEnded }
                #expect(receiver.complete.count == 50 && receiver.complete.values.allSatisfy { $0 == "abc" })
            }
            let gets = server.gets
            #expect(Set(gets.map(\.path)) == Set((0..<50).map { "/d/a%20\($0)%25" }))
            for field in ["if-match: \"v1\"", "authorization: basic ywrhong=", "accept-encoding: identity"] {
                #expect(gets.allSatisfy { $0.lines.contains(field) }, "\(field)")
            }
            #expect(Set(gets.compactMap { $0.lines.first { $0.hasPrefix("x-request-id:") } }).count == 50)
        }
    }

    @Test(
        "S53: an answer that is not ordinary is judged as that of a single download, without another request",
        arguments: [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone",
            "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 4\r\n\r\nabcd",
            "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 103 Early Hints\r\nETag: \"v1\"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            "220 mail.example.org ESMTP ready\r\n\r\n",
        ])
    func notOrdinary(_ answer: String) async throws {
        try await RawServer.running(answering: { _ in answer }) { server in
            var alone: Result<[UInt8], ConnectionError>?
            var together: Result<[UInt8], ConnectionError>?
            func get(_ connection: Connection, after first: FirstAnswer?) async -> Result<[UInt8], ConnectionError> {
                let sink = MemorySink()
                do {
                    let request = DownloadRequest(version: ETag(opaque: "v1", strength: .strong), size: 3)
                    _ = try await connection.downloads.get(path("/a"), request: request, after: first, into: sink)
                    return .success(sink.bytes)
                } catch let error as ConnectionError {
                    return .failure(error)
                } catch {
                    return .failure(ConnectionError(.cancelled, "\(error)"))
                }
            }
            try await connected(server) { alone = await get($0, after: nil) }
            let requests = server.gets.count
            try await connected(server) { connection in
                let receiver = Receiver()
                _ = connection.downloads.download(batch([("/a", "v1", 3)]), for: receiver)
                await until { receiver.hasEnded }
                let first = try #require(receiver.first(0))
                together = await get(connection, after: first)
            }
            #expect(server.gets.count == 2 * requests)
            switch (alone, together) {
            case (.success(let one)?, .success(let other)?): #expect(one == other)
            case (.failure(let one)?, .failure(let other)?):
                #expect(one.kind == other.kind && one.message == other.message && one.retryAfter == other.retryAfter)
            default: Issue.record("\(String(describing: alone)), \(String(describing: together))")
            }
        }
    }

    @Test(
        "S53: after a refused password, a server in trouble and the lack of an answer no further file is requested",
        arguments: [
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", nil,
        ] as [String?])
    func halted(_ answer: String?) async throws {
        try await RawServer.running(answering: { _ in answer }) { server in
            try await connected(server, limits: Limits(connections: 1)) { connection in
                let receiver = Receiver()
                _ = connection.downloads.download(batch((0..<20).map { ("/\($0)", "v1", 3) }), for: receiver)
                await until { receiver.hasEnded }
                #expect(receiver.state.withLock { $0.ends.count } == 1)
                // As one request, except that it is sent once more where a kept connection may have been closed.
                #expect(Set(server.gets.map(\.path)).count == 1)
                _ = receiver.first(0)
                for _ in 0..<2 { _ = try? await list(connection) }
            }
        }
    }

    @Test("S53: a batch of which one answer does not come goes on with the turns that others give back")
    func othersTurns() async throws {
        let gate = Gate()
        try await RawServer.running(answering: { request in
            if request.path == "/d/0" { gate.passOnThread() }
            return Self.ok("abc")
        }) { server in
            try await connected(server) { connection in
                let turns = [
                    try await connection.wire.gate.enter(.listing), try await connection.wire.gate.enter(.listing),
                ]
                let receiver = Receiver()
                _ = connection.downloads.download(batch((0..<4).map { ("/\($0)", "v1", 3) }), for: receiver)
                turns[0].end()
                await until { server.gets.count == 1 }
                turns[1].end()
                await until { server.gets.count == 4 }
                gate.open()
                await until { receiver.hasEnded }
                #expect(receiver.complete.count == 4)
            }
        }
    }

    @Test("S14: a body that ends early, and one of which not all is taken, is no file")
    func brokenOff() async throws {
        let short = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 9\r\n\r\nabc\(RawServer.endsConnection)"
        try await RawServer.running(answering: { $0.path == "/d/0" ? short : Self.ok("abcdefghi") }) { server in
            try await connected(server) { connection in
                let receiver = Receiver(onTake: { $0 != 1 })
                _ = connection.downloads.download(batch((0..<4).map { ("/\($0)", "v1", 9) }), for: receiver)
                await until { receiver.hasEnded }
                #expect(receiver.complete == [2: "abcdefghi", 3: "abcdefghi"])
                for file in 0...1 {
                    guard case .brokenOff? = receiver.state.withLock({ $0.ends[file] }) else {
                        Issue.record("\(file)")
                        continue
                    }
                }
            }
        }
    }

    @Test("S28: a batch that is stopped starts nothing more, and a file, or all, can be ended")
    func stopped() async throws {
        let gate = Gate()
        let answer: @Sendable (RawServer.Download) -> String? = { download in
            guard download.path == "/d/0" || download.path == "/d/1" else { return Self.ok("abc") }
            gate.passOnThread()
            return Self.ok("abc")
        }
        try await RawServer.running(answering: answer) { server in
            defer { gate.open() }
            try await connected(server) { connection in
                let receiver = Receiver()
                let run = connection.downloads.download(batch((0..<9).map { ("/\($0)", "v1", 3) }), for: receiver)
                await until { server.gets.count == 2 }
                run?.end(0)
                await until { receiver.state.withLock { $0.ends.count } == 8 }
                run?.stop()
                run?.cancel()
                await until { receiver.hasEnded }
                #expect(receiver.complete.count == 7)
                for file in 0...1 {
                    guard case .cancelled? = receiver.state.withLock({ $0.ends[file] }) else {
                        Issue.record("\(file)")
                        continue
                    }
                }
            }
        }
    }

    @Test(
        "S53: nothing is sent in batches with a limit of bandwidth, by Digest, while paused, and before the server is known"
    )
    func notTaken() async throws {
        try await RawServer.running(answering: { _ in Self.ok("abc") }) { server in
            let bandwidth = Bandwidth()
            let connection = Connection(
                bookmark: .at(server.url), credentials: .basic(username: "ada", password: "x"), bandwidth: bandwidth,
                logger: Logger(label: "test"))
            try await closing(connection) {
                #expect(!connection.downloads.takesBatches)
                _ = try await connection.connect()
                #expect(connection.downloads.takesBatches)
                bandwidth.setLimits(BandwidthLimits(down: 1_000))
                #expect(!connection.downloads.takesBatches)
                bandwidth.setLimits(BandwidthLimits())
                #expect(connection.downloads.takesBatches)
                connection.isPaused = true
                #expect(
                    !connection.downloads.takesBatches
                        && connection.downloads.download(batch([("/a", "v1", 3)]), for: Receiver()) == nil)
            }
            #expect(server.gets.isEmpty)
        }
        var login = Login(.password(username: "ada", password: "x"), isProtected: false)
        #expect(login.sameForAll == nil)
        let digest: HTTPHeaders = ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]
        _ = login.decide(digest, after: .none, isGuess: false) { "00" }
        #expect(login.sameForAll == nil)
        #expect(Login(.bearer(token: "t"), isProtected: true).sameForAll == .bearer(token: "t"))
        #expect(Login(.digest(username: "a", password: "b"), isProtected: true).sameForAll == nil)
    }

    @Test("S6: batches and listings take turns: neither has more requests under way than the account may")
    func turns() async throws {
        let underWay = Mutex(0)
        let most = Mutex(0)
        let answer: @Sendable (RawServer.Download) -> String? = { _ in
            let now = underWay.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, now) }
            defer { underWay.withLock { $0 -= 1 } }
            return Self.ok("abc")
        }
        try await RawServer.running(answering: answer) { server in
            try await connected(server) { connection in
                let receivers = (0..<3).map { _ in Receiver() }
                for receiver in receivers {
                    _ = connection.downloads.download(batch((0..<30).map { ("/\($0)", "v1", 3) }), for: receiver)
                }
                for _ in 0..<10 { _ = try await list(connection) }
                await until { receivers.allSatisfy(\.hasEnded) }
                for receiver in receivers { #expect(receiver.complete.count == 30) }
                #expect(most.withLock(\.self) <= 2)
            }
        }
    }

    @Test("S53: a connection that is shut down ends its batches, and no request begins after that")
    func shutDown() async throws {
        let gate = Gate()
        try await RawServer.running(answering: { _ in
            gate.passOnThread()
            return Self.ok("abc")
        }) { server in
            let receiver = Receiver()
            try await connected(server) { connection in
                _ = connection.downloads.download(batch((0..<9).map { ("/\($0)", "v1", 3) }), for: receiver)
                await until { server.gets.count == 2 }
            }
            await until { receiver.hasEnded }
            gate.open()
            #expect(receiver.complete.isEmpty && server.gets.count == 2)
        }
    }
}
