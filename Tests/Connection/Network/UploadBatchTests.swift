import Logging
import Model
import Synchronization
import TestServer
import TestSupport
import Testing
import Transfer

@testable import Connection

/// One who has files uploaded out of memory.
private final class Sender: UploadBatchReceiver {
    struct State: Sendable {
        var ends: [Int: UploadBatchEnd] = [:]
        var hasEnded = false
        var underWay = 0
        var mostUnderWay = 0
    }

    let state = Mutex(State())
    let contents: [[UInt8]?]

    /// - Parameter contents: The contents; nil for one that cannot be read.
    init(_ contents: [[UInt8]?]) { self.contents = contents }

    convenience init(_ contents: [String]) { self.init(contents.map { Array($0.utf8) }) }

    func mayStart(_ file: Int) -> Bool {
        state.withLock { state in
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
        }
        return true
    }

    func read(_ file: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        guard let content = contents[file], content.count == memory.count else { return false }
        memory.copyBytes(from: content)
        return true
    }

    func end(_ file: Int, _ end: UploadBatchEnd) {
        state.withLock { state in
            state.underWay -= 1
            state.ends[file] = end
        }
    }

    func ended() { state.withLock { $0.hasEnded = true } }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var endCount: Int { state.withLock { $0.ends.count } }

    /// The files that were made.
    var made: [Int: WriteAnswer] {
        state.withLock { state in
            state.ends.compactMapValues { end in if case .made(let answer) = end { answer } else { nil } }
        }
    }

    /// Takes an answer that was not ordinary.
    func anyFirst() -> (Int, FirstAnswer)? {
        let files = state.withLock { $0.ends.keys.sorted() }
        for file in files { if let first = first(file) { return (file, first) } }
        return nil
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

/// Uploads of small files in batches.
@Suite struct UploadBatchTests {
    private func files(
        _ contents: [(path: String, text: String)], _ base: UploadRequest.Base = .new
    ) -> [BatchedUpload] {
        contents.map { BatchedUpload(path($0.path), UploadRequest(base: base, size: Int64($0.text.utf8.count))) }
    }

    private func connected(
        _ server: RawServer, limits: Limits = Limits(connections: 2), bandwidth: Bandwidth = Bandwidth(),
        _ body: (Connection) async throws -> Void
    ) async throws {
        let connection = Connection(
            bookmark: .at(server.url), credentials: .basic(username: "ada", password: "x"), limits: limits,
            bandwidth: bandwidth, logger: Logger(label: "test"))
        try await closing(connection) {
            _ = try await connection.connect()
            _ = try await connection.wire.knownManners()
            try await body(connection)
        }
    }

    /// Uploads files of three bytes, and returns when none is under way.
    private func upload(_ count: Int, _ connection: Connection) async throws -> Sender {
        let sender = Sender((0..<count).map { _ in "abc" })
        let run = connection.writes.upload(files((0..<count).map { ("/\($0)", "abc") }), for: sender)
        #expect(run != nil)
        await until { sender.hasEnded }
        return sender
    }

    private static let created = "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    /// Reads a whole request, and answers.
    private static func answer(_ text: String?) -> @Sendable (RawServer.Upload) -> Void {
        { upload in
            _ = upload.read(upload.length)
            if let text { upload.answer(text) }
        }
    }

    @Test(
        "S53: small files are uploaded in a batch to every server that heeds conditions, and none overwrites what it does not follow",
        arguments: ServerKind.all)
    func everyServer(_ kind: ServerKind) async throws {
        try await Served.running(kind, [:], limits: Limits(connections: 3)) { _, connection in
            _ = try await connection.connect()
            let manners = try await connection.wire.knownManners()
            _ = try await connection.wire.forbiddenNames()
            #expect(connection.writes.takesUploadBatches == manners.heedsConditions)
            let contents =
                (0..<40).map { ("/f \($0)%é#?.txt", "content \($0)") } + [
                    ("/empty", ""), ("/long", String(repeating: "x", count: 65_536)),
                ]
            let sender = Sender(contents.map(\.1))
            let run = connection.writes.upload(files(contents), for: sender)
            guard manners.heedsConditions else {
                #expect(run == nil)
                return
            }
            await until { sender.hasEnded }
            #expect(sender.made.count == contents.count && sender.state.withLock { $0.mostUnderWay } <= 3)
            var versions: [ItemPath: ETag] = [:]
            _ = try await connection.listings.list(.root) { entries in
                for entry in entries where entry.kind == .file { versions[entry.path] = entry.etag }
            }
            for (name, text) in contents {
                let sink = MemorySink()
                _ = try await connection.downloads.get(path(name), into: sink)
                #expect(sink.bytes == Array(text.utf8), "\(name)")
            }
            // What is there stays: neither as new nor after another version is it replaced.
            let foreign = UploadRequest.Base.version(ETag(opaque: "another", strength: .strong))
            for (base, refusal) in [(UploadRequest.Base.new, WriteRefusal.exists), (foreign, .versionChanged)] {
                let others = Sender(contents.map { _ in "other" })
                let files = files(contents.map { ($0.0, "other") }, base)
                _ = connection.writes.upload(files, for: others)
                var judged = 0
                while !others.hasEnded || others.endCount > 0 {
                    // Each answer keeps its turn until it is judged.
                    guard let (number, first) = others.anyFirst() else {
                        await Task.yield()
                        continue
                    }
                    let outcome = try await connection.writes.put(
                        files[number].path, files[number].request, from: MemorySource("other"), after: first)
                    #expect(outcome == .refused(refusal))
                    judged += 1
                }
                #expect(others.made.isEmpty && judged == contents.count)
            }
            let sink = MemorySink()
            _ = try await connection.downloads.get(path("/long"), into: sink)
            #expect(sink.bytes.count == 65_536)
            // A new version follows the one that was listed, unless it is not strong yet.
            let new = contents.filter { versions[path($0.0)]?.strength == .strong }
            let followers = Sender(new.map { _ in "new" })
            _ = connection.writes.upload(
                new.compactMap { name, _ in
                    versions[path(name)].map {
                        BatchedUpload(path(name), UploadRequest(base: .version($0), size: 3))
                    }
                }, for: followers)
            await until { followers.hasEnded }
            #expect(followers.made.count == new.count && followers.made.values.allSatisfy { !$0.hasReplaced })
            // The account's turns are free again.
            for _ in 0..<3 {
                _ = try await connection.writes.put(
                    path("/empty"), UploadRequest(base: .new, size: 0), from: MemorySource(""))
            }
        }
    }

    @Test("S53: each upload of a batch has its condition, its body, the account's proof and an id of its own")
    func requests() async throws {
        let seen = Mutex<[(String, [String], Int)]>([])
        try await RawServer.running({ upload in
            let count = upload.read(upload.length)
            seen.withLock { $0.append((upload.path, upload.lines, count)) }
            upload.answer(Self.created)
        }) { server in
            try await connected(server) { connection in
                let sender = Sender((0..<30).map { String(repeating: "x", count: $0 * 100) })
                var batch: [BatchedUpload] = []
                for number in 0..<30 {
                    let base: UploadRequest.Base =
                        number < 20 ? .new : .version(ETag(opaque: "v\(number)", strength: .strong))
                    var request = UploadRequest(base: base, size: Int64(number * 100))
                    request.modified = Timestamp(seconds: 1_600_000_000)
                    batch.append(BatchedUpload(path("/a \(number)%"), request))
                }
                _ = connection.writes.upload(batch, for: sender)
                await until { sender.hasEnded }
                #expect(sender.made.count == 30)
            }
        }
        let requests = seen.withLock(\.self)
        #expect(requests.count == 30)
        for (address, lines, count) in requests {
            guard let number = Int(address.dropFirst("/d/a%20".count).dropLast("%25".count)) else {
                Issue.record("\(address)")
                continue
            }
            let condition = number < 20 ? "if-none-match: *" : "if-match: \"v\(number)\""
            for field in [
                condition, "authorization: basic ywrhong=", "content-type: application/octet-stream",
                "x-oc-mtime: 1600000000", "content-length: \(number * 100)",
            ] { #expect(lines.contains(field), "\(address): \(field)") }
            #expect(count == number * 100 && !lines.contains { $0.hasPrefix("expect:") || $0.hasPrefix("accept:") })
        }
        #expect(Set(requests.compactMap { $0.1.first { $0.hasPrefix("x-request-id:") } }).count == 30)
    }

    @Test(
        "S53: an answer that is not ordinary is judged as that of a single upload, without another request",
        arguments: [
            "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nlogin",
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 423 Locked\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 8\r\n\r\nchecksum",
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 301 Moved Permanently\r\nLocation: /d/a/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            "220 mail.example.org ESMTP ready\r\n\r\n", nil,
        ] as [String?])
    func notOrdinary(_ answer: String?) async throws {
        try await RawServer.running(Self.answer(answer)) { server in
            func put(_ connection: Connection, after first: FirstAnswer?) async -> Result<WriteOutcome, ConnectionError>
            {
                do throws(ConnectionError) {
                    return .success(
                        try await connection.writes.put(
                            path("/a"), UploadRequest(base: .new, size: 3), from: MemorySource("abc"), after: first))
                } catch {
                    return .failure(error)
                }
            }
            var alone: Result<WriteOutcome, ConnectionError>?
            var together: Result<WriteOutcome, ConnectionError>?
            try await connected(server) { alone = await put($0, after: nil) }
            let requests = server.puts
            try await connected(server) { connection in
                let sender = Sender(["abc"])
                _ = connection.writes.upload(files([("/a", "abc")]), for: sender)
                await until { sender.hasEnded }
                let first = try #require(sender.first(0))
                together = await put(connection, after: first)
                // The account's turns are free again.
                for _ in 0..<3 { _ = await put(connection, after: nil) }
            }
            #expect(requests == 1 && server.puts <= 2 * requests + 3)
            switch (alone, together) {
            case (.success(.unclear(let one))?, .success(.unclear(let other))?):
                #expect(one.kind == other.kind && one.message == other.message)
            case (.success(let one)?, .success(let other)?):
                // Times differ.
                if case (.done(let one), .done(let other)) = (one, other) {
                    #expect(one.status == other.status && one.hasReplaced == other.hasReplaced)
                } else {
                    #expect(one == other)
                }
            case (.failure(let one)?, .failure(let other)?):
                #expect(one.kind == other.kind && one.message == other.message && one.retryAfter == other.retryAfter)
                #expect(one.mayHaveArrived == other.mayHaveArrived)
            default: Issue.record("\(String(describing: alone)), \(String(describing: together))")
            }
        }
    }

    @Test(
        "S53: after a refused password, a server in trouble, the lack of an answer, and a condition that was not heeded no further file is sent",
        arguments: [
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n", nil,
        ] as [String?])
    func halted(_ answer: String?) async throws {
        try await RawServer.running(Self.answer(answer)) { server in
            try await connected(server, limits: Limits(connections: 1)) { connection in
                let sender = try await upload(20, connection)
                #expect(sender.endCount == 1 && server.puts == 1)
                guard answer?.hasPrefix("HTTP/1.1 204") == true else { return }
                #expect(sender.made[0]?.hasReplaced == true && !connection.writes.takesUploadBatches)
            }
        }
    }

    @Test("S53: no upload of a batch is sent twice when a kept connection is closed as it goes out")
    func closedConnection() async throws {
        let puts = Mutex<[String: Int]>([:])
        try await RawServer.running({ upload in
            _ = upload.read(upload.length)
            let isFirst = puts.withLock { puts in
                puts[upload.path, default: 0] += 1
                return puts.count <= 3
            }
            // The answer says that the connection stays, and it is closed.
            if isFirst { upload.answer("HTTP/1.1 201 Created\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n") }
        }) { server in
            for _ in 0..<10 {
                puts.withLock { $0 = [:] }
                try await connected(server) { connection in
                    let sender = try await upload(10, connection)
                    #expect(puts.withLock { $0.values.allSatisfy { $0 == 1 } })
                    // What may have arrived is said to have.
                    let sent = puts.withLock { $0.count }
                    #expect(sender.endCount >= sent)
                }
            }
        }
    }

    @Test(
        "S53: an upload whose answer nobody came to judge is in doubt, and is not sent again with another password",
        arguments: [nil, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"] as [String?])
    func notJudged(_ answer: String?) async throws {
        try await RawServer.running(Self.answer(answer)) { server in
            try await connected(server) { connection in
                func judge(_ first: FirstAnswer?) async throws -> ConnectionError? {
                    do {
                        let request = UploadRequest(base: .new, size: 3)
                        _ = try await connection.writes.upload(
                            path("/0"), request, from: MemorySource("abc"),
                            resuming: UploadResumption(begun: nil) { _ in }, after: first)
                        return nil
                    } catch let error as ConnectionError {
                        return error
                    }
                }
                // The account is paused before the answer is judged.
                let first = try await upload(1, connection).first(0)
                connection.isPaused = true
                #expect(try await judge(first)?.mayHaveArrived == true)
                #expect(try await judge(nil)?.mayHaveArrived == false)
                connection.isPaused = false
                // Another password comes before the answer is judged.
                let second = try await upload(1, connection).first(0)
                let puts = server.puts
                connection.use(.basic(username: "ada", password: "y"))
                _ = try await connection.connect()
                #expect(try await judge(second)?.mayHaveArrived == true && server.puts == puts)
            }
        }
    }

    @Test("S28: a batch of uploads that is stopped sends nothing more, and a file, or all, can be ended")
    func stopped() async throws {
        let gate = Gate()
        try await RawServer.running({ upload in
            _ = upload.read(upload.length)
            if upload.path == "/d/0" || upload.path == "/d/1" { gate.passOnThread() }
            upload.answer(Self.created)
        }) { server in
            defer { gate.open() }
            try await connected(server) { connection in
                let sender = Sender((0..<9).map { _ in "abc" })
                let run = connection.writes.upload(files((0..<9).map { ("/\($0)", "abc") }), for: sender)
                await until { server.puts == 2 }
                run?.end(0)
                await until { sender.endCount == 8 }
                run?.stop()
                run?.cancel()
                await until { sender.hasEnded }
                #expect(sender.made.count == 7)
                for file in 0...1 {
                    guard case .cancelled? = sender.state.withLock({ $0.ends[file] }) else {
                        Issue.record("\(file)")
                        continue
                    }
                }
            }
        }
    }

    @Test("S14: a file of a batch that cannot be read, or has another size, is not sent, and the others are")
    func unread() async throws {
        try await RawServer.running(Self.answer(Self.created)) { server in
            try await connected(server) { connection in
                let contents: [[UInt8]?] = [[1, 2, 3], nil, [1, 2, 3], [1, 2], [1, 2, 3]]
                let sender = Sender(contents)
                _ = connection.writes.upload(files((0..<5).map { ("/\($0)", "abc") }), for: sender)
                await until { sender.hasEnded }
                #expect(sender.made.keys.sorted() == [0, 2, 4] && server.puts == 3)
                for file in [1, 3] {
                    guard case .unread? = sender.state.withLock({ $0.ends[file] }) else {
                        Issue.record("\(file)")
                        continue
                    }
                }
            }
        }
    }

    @Test("S53: an answer to an upload with a long page, or one that does not end, is an answer")
    func page() async throws {
        let page = String(repeating: "p", count: 200_000)
        try await RawServer.running({ upload in
            _ = upload.read(upload.length)
            upload.answer("HTTP/1.1 201 Created\r\nETag: \"v1\"\r\nContent-Length: 400000\r\n\r\n\(page)")
        }) { server in
            try await connected(server) { connection in
                let sender = try await upload(3, connection)
                #expect(sender.made.count == 3 && sender.made[1]?.etag == ETag(opaque: "v1", strength: .strong))
            }
        }
    }

    @Test("S6: no more uploads are under way than the config allows, whichever way they go")
    func turns() async throws {
        let underWay = Mutex(0)
        let most = Mutex(0)
        try await RawServer.running({ upload in
            let now = underWay.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, now) }
            _ = upload.read(upload.length)
            underWay.withLock { $0 -= 1 }
            upload.answer(Self.created)
        }) { server in
            try await connected(server, limits: Limits(connections: 8, uploads: 2)) { connection in
                let senders = (0..<3).map { _ in Sender((0..<30).map { _ in "abc" }) }
                for (number, sender) in senders.enumerated() {
                    _ = connection.writes.upload(files((0..<30).map { ("/\(number)-\($0)", "abc") }), for: sender)
                }
                for number in 0..<10 {
                    _ = try await connection.writes.put(
                        path("/alone \(number)"), UploadRequest(base: .new, size: 3), from: MemorySource("abc"))
                }
                await until { senders.allSatisfy(\.hasEnded) }
                for sender in senders { #expect(sender.made.count == 30) }
                #expect(most.withLock(\.self) <= 2)
            }
        }
    }

    @Test(
        "S53: nothing is uploaded in batches with a limit of bandwidth, while paused, or where more must be asked before"
    )
    func notTaken() async throws {
        try await RawServer.running(Self.answer(Self.created)) { server in
            let bandwidth = Bandwidth()
            try await connected(server, bandwidth: bandwidth) { connection in
                #expect(connection.writes.takesUploadBatches)
                bandwidth.setLimits(BandwidthLimits(up: 1_000))
                #expect(!connection.writes.takesUploadBatches)
                bandwidth.setLimits(BandwidthLimits(down: 1_000))
                #expect(connection.writes.takesUploadBatches)
                func may(_ name: String, _ base: UploadRequest.Base, _ size: Int64 = 3) -> Bool {
                    connection.writes.mayUploadInBatch(BatchedUpload(path(name), UploadRequest(base: base, size: size)))
                }
                #expect(may("/a", .new) && may("/.a", .version(ETag(opaque: "v", strength: .strong)), 65_536))
                #expect(!may("/a", .new, 65_537) && !may("/", .new))
                #expect(!may("/a", .version(ETag(opaque: "v", strength: .weak))))
                #expect(!may("/a", .version(.substitute(size: 3, lastModified: nil))))
                connection.wire.learn(.noRoom(in: .root))
                #expect(!may("/a", .new) && may("/d/a", .new))
                connection.isPaused = true
                #expect(!connection.writes.takesUploadBatches)
                #expect(connection.writes.upload(files([("/a", "abc")]), for: Sender(["abc"])) == nil)
            }
            #expect(server.puts == 0)
        }
    }
}
