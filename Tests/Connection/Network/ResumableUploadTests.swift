import DemoServer
import Digests
import Logging
import Model
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Resumable uploads over the network, to a server that offers them.
struct ResumableUploadTests {
    private static let part = 2_000_000
    /// Six parts, the last of which is a small one.
    private static let bytes = (0..<10_500_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) &+ ($0 >> 8)) }
    private static let sha1 = MessageDigest.of(bytes, .sha1)
    /// Another file of the same size.
    private static let others = [UInt8](repeating: 9, count: 10_500_000)

    /// What an upload noted.
    private final class Notes: Sendable {
        private let state = Mutex<[ResumableUpload?]>([])
        var all: [ResumableUpload?] { state.withLock { $0 } }
        var last: ResumableUpload? { state.withLock { $0.last ?? nil } }
        func resumption(_ begun: ResumableUpload? = nil) -> UploadResumption {
            UploadResumption(begun: begun) { [self] note in state.withLock { $0.append(note) } }
        }
    }

    private func running(
        log: CollectedLog = CollectedLog(), _ change: (inout Manner) -> Void = { _ in },
        _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner.tus?.largestChunk = Self.part
        change(&configuration.manner)
        try await TestServer.running(configuration) { server in
            server.tree.makeFolder("/f")
            let connection = Connection(
                bookmark: .at(server.url, username: server.configuration.user),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                limits: Limits(), clock: TestClock.skipping().host, logger: log.logger, timeLimits: TimeLimits())
            try await closing(connection) {
                _ = try await connection.connect()
                server.forgetRequests()
                try await body(server, connection)
            }
        }
    }

    private func request(_ base: UploadRequest.Base = .new) -> UploadRequest {
        UploadRequest(
            base: base, size: Int64(Self.bytes.count),
            checksums: [ContentChecksum(.sha1, Self.sha1)],
            modified: Timestamp(seconds: 1_700_000_000))
    }

    private func upload(
        _ connection: Connection, _ notes: Notes = Notes(), begun: ResumableUpload? = nil,
        following base: UploadRequest.Base = .new, progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> WriteOutcome {
        try await connection.writes.upload(
            path("/f/a"), request(base), from: MemorySource(Self.bytes), resuming: notes.resumption(begun),
            progress: progress)
    }

    private func isDone(_ outcome: WriteOutcome) -> Bool { if case .done = outcome { true } else { false } }

    /// Whether the server has the whole file.
    private func isWhole(_ server: TestServer) -> Bool {
        server.tree.sha1(of: "/f/a") == hexadecimal(Self.sha1)
    }

    private func expectDone(_ outcome: WriteOutcome, _ place: SourceLocation = #_sourceLocation) {
        #expect(isDone(outcome), "\(outcome)", sourceLocation: place)
    }

    private func current(_ connection: Connection) async throws -> ETag {
        try #require(try await connection.listings.held(at: path("/f/a"))?.item.etag)
    }

    @Test("C6: a large file goes out in parts, each with a checksum, and its version is known then")
    func whole() async throws {
        try await running { server, connection in
            let notes = Notes()
            let told = Mutex<[Int64]>([])
            let outcome = try await upload(connection, notes) { count in told.withLock { $0.append(count) } }
            guard case .done(let answer) = outcome else { throw SetupError("\(outcome)") }
            #expect(isWhole(server) && server.openUploads == 0)
            #expect(server.count("PATCH") == 6 && server.count("PUT") == 0 && server.count("HEAD") == 0)
            #expect(server.receivedBytes == Self.bytes.count)
            #expect(notes.all.count == 1 && notes.last?.path == path("/f/a") && notes.last?.base == nil)
            #expect(notes.last?.address.hasPrefix(server.url + "/data/tus/") == true)
            let progress = told.withLock { $0 }
            #expect(progress.last == Int64(Self.bytes.count) && progress == progress.sorted())
            // An ETag in the last part's answer proves nothing.
            #expect(answer.etag == nil && answer.tookModified && !answer.hasReplaced)
            let (confirmation, held) = try await connection.writes.confirm(
                path("/f/a"), request(), answer: answer, among: { 0 })
            #expect(confirmation == .made)
            #expect(try await held?.item.etag == current(connection))
            // The next version of it, too.
            server.tree.put("/f/a", "theirs")
            let base = try await current(connection)
            expectDone(try await upload(connection, following: .version(base)))
            #expect(isWhole(server))
        }
    }

    @Test(
        "S35 C6: what the server makes a file of long after the last part is waited for, and no part is sent again",
        arguments: [true, false])
    func muchLater(_ isNew: Bool) async throws {
        try await running { server, connection in
            if !isNew { server.tree.put("/f/a", "before") }
            let base: UploadRequest.Base = isNew ? .new : .version(try await current(connection))
            let (notes, size) = (Notes(), "\(Self.bytes.count)")
            // The last part is taken, and the server is at work.
            server.add(Fault(.status(204), method: "PATCH", from: 6))
            server.add(Fault(.fields(["Upload-Offset": size]), method: "PATCH", from: 6))
            server.add(Fault(.status(200), method: "HEAD"))
            server.add(Fault(.fields(["Upload-Offset": size, "Upload-Length": size]), method: "HEAD"))
            let outcome = try await upload(connection, notes, following: base)
            guard case .done(let answer) = outcome else { throw SetupError("\(outcome)") }
            #expect(
                try await connection.writes.confirm(path("/f/a"), request(base), answer: answer, among: { 0 }).0
                    == .undone)
            // So it is for another process.
            expectDone(try await upload(connection, notes, begun: notes.last, following: base))
            #expect(server.count("PATCH") == 6 && server.count("POST") == 1 && server.count("DELETE") == 0)
        }
    }

    @Test("C6: a part that was cut off goes on at the offset that the server tells, and nothing is sent twice for long")
    func cutOff() async throws {
        try await running { server, connection in
            server.add(Fault(.cutRequest(afterBytes: 700_000), method: "PATCH", from: 3, times: 1))
            server.add(Fault(.lostAnswer(executed: true), method: "PATCH", from: 5, times: 1))
            expectDone(try await upload(connection))
            #expect(isWhole(server) && server.count("HEAD") == 2)
            #expect(server.receivedBytes < Self.bytes.count + 2 * Self.part)
        }
    }

    @Test("C6: an attempt that failed leaves what it has begun to the next one")
    func nextAttempt() async throws {
        try await running { server, connection in
            let notes = Notes()
            let fault = server.add(Fault(.status(503, retryAfter: 7), method: "PATCH", from: 4))
            let error = await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
            #expect(error?.kind == .serverError && error?.retryAfter == .seconds(7) && error?.mayHaveArrived == false)
            server.remove(fault)
            let begun = try #require(notes.last)
            let told = Mutex<[Int64]>([])
            expectDone(try await upload(connection, begun: begun) { count in told.withLock { $0.append(count) } })
            #expect(told.withLock { $0.first } == 3 * Int64(Self.part))
            #expect(isWhole(server) && server.receivedBytes == Self.bytes.count)
            #expect(server.count("POST") == 1)
        }
    }

    @Test("C6: a wrong offset is found out, and an expired upload begins anew")
    func oddities() async throws {
        for difference in [-1, 1] {
            try await running { server, connection in
                server.add(Fault(.cutRequest(afterBytes: 700_000), method: "PATCH", from: 2, times: 1))
                server.add(Fault(.wrongOffset(by: difference), method: "HEAD", times: 1))
                server.add(Fault(.wrongOffset(by: difference), method: "PATCH", from: 4, times: 1))
                expectDone(try await upload(connection))
                #expect(isWhole(server), "\(difference)")
            }
        }
        try await running { server, connection in
            let notes = Notes()
            server.add(Fault(.uploadExpired, method: "PATCH", from: 3, times: 1))
            expectDone(try await upload(connection, notes))
            #expect(isWhole(server) && server.count("POST") == 2)
            #expect(Set(notes.all.map { $0?.address }).count == 2)
        }
        try await running { server, connection in
            server.add(Fault(.uploadExpired, method: "PATCH"))
            let error = await #expect(throws: ConnectionError.self) { try await upload(connection) }
            #expect(error?.kind == .serverError && server.count("POST") == TusUpload.mostCreations)
        }
    }

    @Test("C6: a server that refuses to create uploads gets the file in one request, from then on at once")
    func fallback() async throws {
        for status in [404, 405, 501] {
            try await running { server, connection in
                server.add(Fault(.status(status), method: "POST"))
                expectDone(try await upload(connection))
                #expect(isWhole(server))
                expectDone(try await upload(connection, following: .version(try await current(connection))))
                #expect(server.count("POST") == (status == 404 ? 2 : 1) && server.count("PUT") == 2, "\(status)")
                // It is tried again when the server is connected to anew.
                _ = try await connection.connect()
                expectDone(try await upload(connection, following: .version(try await current(connection))))
                #expect(server.count("POST") == (status == 404 ? 3 : 2))
            }
        }
    }

    @Test("C6: small files, and files for a server that offers nothing else, go in one request")
    func single() async throws {
        try await running { server, connection in
            let notes = Notes()
            let outcome = try await connection.writes.upload(
                path("/f/s"), UploadRequest(base: .new, size: 5), from: MemorySource("small"),
                resuming: notes.resumption(ResumableUpload(address: "\(server.url)/x", path: path("/f/s"), base: nil)))
            #expect(isDone(outcome) && server.count("POST") == 0 && notes.all == [nil])
        }
        try await running {
            $0.tus = nil
        } _: { server, connection in
            expectDone(try await upload(connection))
            #expect(server.count("POST") == 0 && server.count("PUT") == 1)
        }
    }

    @Test("C6, S9: what somebody else writes before the last part is not overwritten, and the upload is dropped")
    func conflict() async throws {
        for isNew in [true, false] {
            try await running { manner in
                manner.tus?.terminates = true
                // The server heeds no condition.
                manner.conditions = false
            } _: { server, connection in
                if !isNew { server.tree.put("/f/a", "before") }
                let base: UploadRequest.Base = isNew ? .new : .version(try await current(connection))
                let notes = Notes()
                let hold = server.add(Fault(.hold(), method: "PATCH", from: 3, times: 1))
                async let outcome = upload(connection, notes, following: base)
                await server.untilHeld(hold)
                server.tree.put("/f/a", "theirs")
                server.remove(hold)
                let refused = try await outcome
                #expect(refused == .refused(isNew ? .exists : .versionChanged))
                #expect(server.tree.bytes(of: "/f/a") == Array("theirs".utf8))
                #expect(server.openUploads == 0 && notes.last == nil && notes.all.count == 2)
            }
        }
        // Before the upload is created, nothing at all is sent.
        try await running { server, connection in
            server.tree.put("/f/a", "theirs")
            let refused = try await upload(connection)
            #expect(refused == .refused(.exists))
            #expect(server.count("POST") == 0 && server.receivedBytes == 0)
            let lost = try await connection.writes.upload(
                path("/no/a"), request(), from: MemorySource(Self.bytes), resuming: Notes().resumption())
            #expect(lost == .refused(.parentMissing))
        }
    }

    @Test("C6: a part that changed on the way is sent again, and a file that is not what was sent is refused")
    func checksums() async throws {
        try await running { server, connection in
            server.add(Fault(.status(460), method: "PATCH", from: 2, times: 1))
            expectDone(try await upload(connection))
            #expect(isWhole(server))
        }
        try await running { server, connection in
            server.add(Fault(.status(460), method: "PATCH"))
            let refused = try await upload(connection)
            #expect(refused == .refused(.checksumDiffers))
            #expect(!server.tree.exists("/f/a"))
        }
        // The server made another file of the parts than the one that was sent.
        try await running { server, connection in
            let hold = server.add(Fault(.hold(), method: "PROPFIND", path: "/f/a", from: 3, times: 1))
            async let outcome = upload(connection)
            await server.untilHeld(hold)
            server.tree.put("/f/a", Self.others)
            server.remove(hold)
            let refused = try await outcome
            #expect(refused == .refused(.checksumDiffers))
        }
    }

    @Test("C6, S10: after the last part's answer was lost, the upload may have arrived, and the file tells")
    func lastAnswer() async throws {
        for executed in [true, false] {
            try await running { server, connection in
                let notes = Notes()
                server.add(Fault(.lostAnswer(executed: executed), method: "PATCH", from: 6, times: 1))
                let error = await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
                #expect(error?.kind == .unreachable && error?.mayHaveArrived == true)
                let held = try await connection.listings.held(at: path("/f/a"))
                let found = ChangeConfirmation.ofUpload(
                    request(), shown: held, manners: connection.writes.writingManners)
                guard executed else {
                    #expect(found == .undone)
                    expectDone(try await upload(connection, begun: notes.last))
                    #expect(server.receivedBytes == Self.bytes.count && server.count("POST") == 1)
                    return
                }
                #expect(found == .made)
            }
        }
    }

    @Test("C6: an upload for another path or of another base is not gone on with")
    func foreign() async throws {
        try await running {
            $0.tus?.terminates = true
        } _: { server, connection in
            let notes = Notes()
            server.add(Fault(.status(503), method: "PATCH", from: 3, times: 1))
            await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
            var begun = try #require(notes.last)
            begun.path = path("/f/b")
            expectDone(try await upload(connection, begun: begun))
            #expect(server.count("POST") == 2 && server.count("DELETE") == 1 && server.openUploads == 0)
        }
        // Credentials are not sent to another server, whatever the journal says.
        try await running { other, _ in
            try await running { server, connection in
                let begun = ResumableUpload(address: "\(other.url)/data/tus/1", path: path("/f/a"), base: nil)
                expectDone(try await upload(connection, begun: begun))
                await connection.writes.terminate(begun)
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test("C6: a server whose proxies let no PATCH through gets it as a POST that names it")
    func override() async throws {
        try await running {
            $0.tus?.methodOverride = "POST"
        } _: { server, connection in
            expectDone(try await upload(connection))
            #expect(isWhole(server))
            #expect(server.count("PATCH") == 0 && server.count("POST") == 7)
        }
    }

    @Test(
        "C6, C8: where an upload's address is on another server, files go in one request, nothing is sent there; said once"
    )
    func elsewhere() async throws {
        let log = CollectedLog()
        try await running { other, _ in
            try await running(log: log) { server, connection in
                let notes = Notes()
                server.add(Fault(.fields(["Location": "\(other.url)/data/tus/1"]), method: "POST"))
                expectDone(try await upload(connection, notes))
                #expect(isWhole(server) && server.count("POST") == 1 && server.count("PUT") == 1)
                server.tree.remove("/f/a")
                expectDone(try await upload(connection, notes))
                #expect(server.count("POST") == 1 && server.count("PUT") == 2)
                #expect(other.requests.isEmpty && notes.last == nil)
            }
        }
        #expect(log.messages.count { $0.contains("on another server for a resumable upload") } == 1)
        #expect(!log.contains("/data/tus/1"))
    }

    @Test("C6: neither the log nor an error has an upload's address, and no redirect from it is followed")
    func secret() async throws {
        let log = CollectedLog()
        try await running(log: log) { server, connection in
            let notes = Notes()
            server.add(Fault(.cutRequest(afterBytes: 1_000), method: "PATCH", from: 2, times: 1))
            let fault = server.add(Fault(.redirect(to: "/data/tus/else"), method: "PATCH", from: 4))
            let refused = try await upload(connection, notes)
            #expect(refused == .refused(.other(status: 307)) && server.count("PATCH") == 4)
            server.remove(fault)
            server.add(Fault(.status(503), method: "PATCH", times: 1))
            let error = await #expect(throws: ConnectionError.self) { try await upload(connection, begun: notes.last) }
            expectDone(try await upload(connection, begun: notes.last))
            #expect(isWhole(server) && log.lines.count > 10)
            #expect(!log.contains("/data/") && error?.description.contains("/data/") == false)
        }
    }

    @Test("C6, C2: an upload's address that lets nobody in any more has expired, and the account was not refused")
    func notLetIn() async throws {
        try await running { server, connection in
            server.add(Fault(.status(401), method: "PATCH", from: 3, times: 1))
            expectDone(try await upload(connection))
            #expect(isWhole(server) && server.count("POST") == 2)
        }
    }

    @Test("C6: a file that the server makes only after its answer to the last part is waited for")
    func late() async throws {
        try await running { server, connection in
            server.add(Fault(.status(404), method: "PROPFIND", path: "/f/a", from: 3, times: 3))
            expectDone(try await upload(connection))
            #expect(isWhole(server) && server.count("PROPFIND", "/f/a") == 6)
        }
        // A version that stays is no done upload.
        try await running { server, connection in
            server.tree.put("/f/a", "before")
            let base = try await current(connection)
            server.forgetRequests()
            let before = ["getetag": "\"\(base.opaque)\"", "getcontentlength": "6", "checksums": ""]
            server.add(Fault(.properties(before), method: "PROPFIND", path: "/f/a", from: 3))
            let outcome = try await upload(connection, following: .version(base))
            guard case .done(let answer) = outcome else { throw SetupError("\(outcome)") }
            let (confirmation, _) = try await connection.writes.confirm(
                path("/f/a"), request(.version(base)), answer: answer, among: { 0 })
            #expect(confirmation == .undone)
        }
    }

    @Test("C6: an upload that is cancelled ends at once, and goes on later where it was")
    func cancelled() async throws {
        try await running { server, connection in
            let notes = Notes()
            // The part is held, and then lost.
            let hold = server.add(Fault(.hold(), method: "PATCH", from: 3, times: 1))
            server.add(Fault(.lostAnswer(executed: false), method: "PATCH", from: 3, times: 1))
            let task = Task { try await upload(connection, notes) }
            await server.untilHeld(hold)
            task.cancel()
            let error = await #expect(throws: ConnectionError.self) { try await task.value }
            #expect(error?.kind == .cancelled && error?.mayHaveArrived == false)
            server.remove(hold)
            await until { server.count("PATCH") >= 3 }
            expectDone(try await upload(connection, begun: notes.last))
            #expect(server.count("POST") == 1)
        }
    }
}
