import DemoServer
import Digests
import Logging
import Model
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Uploads in parts that are put together, over the network, to a server that behaves as Nextcloud does.
struct ChunkedUploadTests {
    private static let part = 2_000_000
    /// Six parts, the last of which is a small one.
    private static let bytes = (0..<10_500_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) &+ ($0 >> 8)) }

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
        _ change: (inout Manner) -> Void = { _ in }, _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner = .nextcloud
        configuration.manner.nextcloud?.largestPart = Self.part
        change(&configuration.manner)
        try await TestServer.running(configuration) { server in
            server.tree.makeFolder("/f")
            let connection = Connection(
                bookmark: .at(server.url, username: server.configuration.user),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                limits: Limits(), clock: TestClock.skipping().host, logger: CollectedLog().logger,
                timeLimits: TimeLimits())
            try await closing(connection) {
                _ = try await connection.connect()
                server.forgetRequests()
                try await body(server, connection)
                #expect(server.violations.isEmpty)
            }
        }
    }

    private func request(_ base: UploadRequest.Base, _ bytes: [UInt8]) -> UploadRequest {
        UploadRequest(
            base: base, size: Int64(bytes.count),
            checksums: [ContentChecksum(.sha1, MessageDigest.of(bytes, .sha1))],
            modified: Timestamp(seconds: 1_700_000_000))
    }

    private func upload(
        _ connection: Connection, _ notes: Notes = Notes(), begun: ResumableUpload? = nil,
        following base: UploadRequest.Base = .new, bytes: [UInt8] = bytes,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> WriteOutcome {
        try await connection.writes.upload(
            path("/f/a"), request(base, bytes), from: MemorySource(bytes), resuming: notes.resumption(begun),
            progress: progress)
    }

    private func expectDone(
        _ outcome: WriteOutcome, _ server: TestServer, _ bytes: [UInt8] = bytes,
        _ place: SourceLocation = #_sourceLocation
    ) {
        guard case .done = outcome else {
            Issue.record("\(outcome)", sourceLocation: place)
            return
        }
        let sha1 = hexadecimal(MessageDigest.of(bytes, .sha1))
        let isWhole = server.tree.sha1(of: "/f/a") == sha1
        #expect(isWhole && server.openUploads == 0, sourceLocation: place)
    }

    private func current(_ connection: Connection) async throws -> ETag {
        try #require(try await connection.listings.held(at: path("/f/a"))?.item.etag)
    }

    @Test("C6: a large file goes out in parts that the server puts together, and its version is known then")
    func whole() async throws {
        try await running { server, connection in
            let notes = Notes()
            let told = Mutex<[Int64]>([])
            let outcome = try await upload(connection, notes) { count in told.withLock { $0.append(count) } }
            expectDone(outcome, server)
            guard case .done(let answer) = outcome else { return }
            #expect(server.count("PUT") == 6 && server.count("MKCOL") == 1 && server.count("MOVE") == 1)
            #expect(server.receivedBytes == Self.bytes.count && server.count("PROPFIND", "/f/a") == 2)
            #expect(notes.all.count == 1 && notes.last?.path == path("/f/a") && notes.last?.base == nil)
            let progress = told.withLock { $0 }
            #expect(progress.last == Int64(Self.bytes.count) && progress == progress.sorted())
            #expect(answer.etag == nil && answer.tookModified && !answer.hasReplaced)
            let (confirmation, held) = try await connection.writes.confirm(
                path("/f/a"), request(.new, Self.bytes), answer: answer, among: { 0 })
            #expect(confirmation == .made && held?.item.lastModified == Timestamp(seconds: 1_700_000_000))
            // The next version, of an exact multiple of the parts' size.
            let multiple = [UInt8](repeating: 7, count: 6 * Self.part)
            expectDone(
                try await upload(connection, following: .version(try await current(connection)), bytes: multiple),
                server,
                multiple)
            #expect(server.count("PUT") == 12)
        }
    }

    @Test("C6: small and empty files go in one request")
    func single() async throws {
        try await running { server, connection in
            for bytes in [[], Array("small".utf8)] {
                expectDone(try await upload(connection, bytes: bytes), server, bytes)
                server.tree.remove("/f/a")
            }
            #expect(server.count("MKCOL") == 0 && server.count("PUT") == 2)
        }
        try await running {
            $0.nextcloud?.largestPart = nil
        } _: { server, connection in
            expectDone(try await upload(connection), server)
            #expect(server.count("MKCOL") == 0 && server.count("PUT") == 1)
        }
    }

    @Test("S9, S50: what another client writes between the last part and the MOVE is not overwritten")
    func conflict() async throws {
        for isNew in [true, false] {
            try await running { server, connection in
                if !isNew { server.tree.put("/f/a", "before") }
                let base: UploadRequest.Base = isNew ? .new : .version(try await current(connection))
                let notes = Notes()
                let hold = server.add(Fault(.hold(), method: "MOVE", times: 1))
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
        // What was to be replaced is gone.
        try await running { server, connection in
            server.tree.put("/f/a", "before")
            let base = try await current(connection)
            let hold = server.add(Fault(.hold(), method: "MOVE", times: 1))
            async let outcome = upload(connection, following: .version(base))
            await server.untilHeld(hold)
            server.tree.remove("/f/a")
            server.remove(hold)
            let refused = try await outcome
            #expect(refused == .refused(.versionChanged))
            #expect(!server.tree.exists("/f/a") && server.openUploads == 0)
        }
    }

    @Test("S9: where the server heeds no condition, it is asked before the parts are put together")
    func asked() async throws {
        for isNew in [true, false] {
            try await running {
                $0.conditions = false
            } _: { server, connection in
                if !isNew { server.tree.put("/f/a", "before") }
                let base: UploadRequest.Base = isNew ? .new : .version(try await current(connection))
                let hold = server.add(Fault(.hold(), method: "PUT", from: 6, times: 1))
                async let outcome = upload(connection, following: base)
                await server.untilHeld(hold)
                server.tree.put("/f/a", "theirs")
                server.remove(hold)
                let refused = try await outcome
                #expect(refused == .refused(isNew ? .exists : .versionChanged))
                #expect(server.tree.bytes(of: "/f/a") == Array("theirs".utf8) && server.count("MOVE") == 0)
            }
        }
    }

    @Test("C6: an attempt that failed leaves its parts to the next one, and cut-off parts are sent again")
    func nextAttempt() async throws {
        for keeps in [true, false] {
            try await running {
                $0.nextcloud?.keepsCutParts = keeps
            } _: { server, connection in
                let notes = Notes()
                server.add(Fault(.cutRequest(afterBytes: 700_000), method: "PUT", from: 3, times: 1))
                let fault = server.add(Fault(.status(503, retryAfter: 7), method: "PUT", from: 5))
                let error = await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
                #expect(error?.retryAfter == .seconds(7) && error?.mayHaveArrived == false)
                server.remove(fault)
                server.forgetRequests()
                let told = Mutex<[Int64]>([])
                expectDone(
                    try await upload(connection, begun: notes.last) { count in told.withLock { $0.append(count) } },
                    server)
                #expect(told.withLock { $0.first } == 3 * Int64(Self.part))
                #expect(server.count("PUT") == 3 && server.count("MKCOL") == 0)
                #expect(server.receivedBytes == Self.bytes.count + 700_000)
            }
        }
    }

    @Test("C6: an upload whose folder expired begins anew, at each step")
    func expired() async throws {
        for (method, number) in [("PUT", 3), ("PROPFIND", 1), ("MOVE", 1)] {
            try await running { server, connection in
                let notes = Notes()
                if method == "PROPFIND" {
                    let fault = server.add(Fault(.status(503), method: "PUT", from: 3))
                    await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
                    server.remove(fault)
                }
                let path = notes.last.flatMap { $0.address.split(separator: "/").last.map { String($0) } }
                let home = "/remote.php/dav/uploads/\(server.configuration.user)"
                server.add(
                    Fault(
                        .uploadExpired, method: method, path: path.map { "\(home)/\($0)" } ?? home, below: true,
                        from: number, times: 1))
                expectDone(try await upload(connection, notes, begun: notes.last), server)
                #expect(server.count("MKCOL") == 2 && server.count("MOVE") == (method == "MOVE" ? 2 : 1), "\(method)")
            }
        }
        try await running { server, connection in
            server.add(Fault(.uploadExpired, method: "PUT"))
            let error = await #expect(throws: ConnectionError.self) { try await upload(connection) }
            #expect(error?.kind == .serverError && server.count("MKCOL") == ChunkUpload.mostCreations)
        }
    }

    @Test("C6: a body that is too large for one request goes out in parts that are small enough, from then on at once")
    func tooLarge() async throws {
        try await running {
            $0.largestBody = 100_000
        } _: { server, connection in
            let bytes = Array(Self.bytes.prefix(700_000))
            expectDone(try await upload(connection, bytes: bytes), server, bytes)
            // 700,000, then halves of it until it fits.
            let refused = server.requests.filter { $0.status == 413 }.map(\.method)
            #expect(refused == Array(repeating: "PUT", count: 3) && server.count("MOVE") == 1)
            server.forgetRequests()
            let next = Array(bytes.reversed())
            expectDone(
                try await upload(connection, following: .version(try await current(connection)), bytes: next), server,
                next)
            #expect(!server.requests.contains { $0.status == 413 })
        }
        // A limit that no part fits, and a server that puts nothing together.
        for largestPart in [Self.part, nil] {
            try await running {
                $0.largestBody = 1_000
                $0.nextcloud?.largestPart = largestPart
            } _: { server, connection in
                let bytes = Array(Self.bytes.prefix(200_000))
                let outcome = try await upload(connection, bytes: bytes)
                #expect(outcome == .refused(.tooLarge))
                #expect(server.openUploads == 0 && !server.tree.exists("/f/a"))
            }
        }
    }

    @Test("C6: parts of an upload for another path or of another base are not gone on with, and are dropped")
    func foreign() async throws {
        for isOtherPath in [true, false] {
            try await running { server, connection in
                let notes = Notes()
                server.add(Fault(.status(503), method: "PUT", from: 3, times: 1))
                await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
                var begun = try #require(notes.last)
                if isOtherPath { begun.path = path("/f/b") } else { begun.base = ETag(opaque: "v", strength: .strong) }
                expectDone(try await upload(connection, begun: begun), server)
                #expect(server.count("MKCOL") == 2 && server.count("DELETE") == 1)
            }
        }
    }

    @Test("S9: a new version goes out in one request where the one before can stand in no condition")
    func weak() async throws {
        try await running { server, connection in
            server.tree.put("/f/a", "before")
            let base = ETag(opaque: try await current(connection).opaque, strength: .weak)
            expectDone(try await upload(connection, following: .version(base)), server)
            #expect(server.count("MKCOL") == 0 && server.count("MOVE") == 0 && server.count("PUT") == 1)
        }
    }

    @Test("S10: after the answer to the MOVE was lost, the upload may have arrived, and the file tells")
    func lostAnswer() async throws {
        for executed in [true, false] {
            try await running { server, connection in
                let notes = Notes()
                server.add(Fault(.lostAnswer(executed: executed), method: "MOVE", times: 1))
                let error = await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
                #expect(error?.kind == .unreachable && error?.mayHaveArrived == true)
                let held = try await connection.listings.held(at: path("/f/a"))
                let found = ChangeConfirmation.ofUpload(
                    request(.new, Self.bytes), shown: held, manners: connection.writes.writingManners)
                #expect(found == (executed ? .made : .undone))
                guard !executed else { return }
                expectDone(try await upload(connection, begun: notes.last), server)
                #expect(server.receivedBytes == Self.bytes.count && server.count("MKCOL") == 1)
            }
        }
        for status in [502, 504] {
            try await running { server, connection in
                server.add(Fault(.statusAfterwards(status), method: "MOVE", times: 1))
                let error = await #expect(throws: ConnectionError.self) { try await upload(connection) }
                #expect(error?.mayHaveArrived == true, "\(status)")
            }
        }
    }

    @Test("C6: a server that does not do what it announces gets the file in one request")
    func fallback() async throws {
        try await running { server, connection in
            server.add(Fault(.status(404), method: "MKCOL"))
            let notes = Notes()
            expectDone(try await upload(connection, notes), server)
            #expect(server.count("PUT") == 1 && notes.last == nil)
            expectDone(try await upload(connection, following: .version(try await current(connection))), server)
            #expect(server.count("PUT") == 2 && server.count("MKCOL") == 1)
        }
    }

    @Test("S28: an upload that is given up is dropped on the server, and no other's is")
    func dropped() async throws {
        try await running { server, connection in
            let notes = Notes()
            let fault = server.add(Fault(.status(503), method: "PUT", from: 3))
            await #expect(throws: ConnectionError.self) { try await upload(connection, notes) }
            #expect(server.openUploads == 1)
            server.remove(fault)
            var begun = try #require(notes.last)
            await connection.writes.terminate(begun)
            #expect(server.openUploads == 0)
            begun.address = begun.address.replacing("/uploads/", with: "/uploads/x")
            server.forgetRequests()
            await connection.writes.terminate(begun)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "S40: a name that the server takes for nothing is not sent, and one that it did not list is refused in its words"
    )
    func forbidden() async throws {
        try await running { server, connection in
            let source = MemorySource("abc")
            let upload = UploadRequest(base: .new, size: 3)
            for name in [".HTaccess", "a\\b", "x.filepart"] {
                let item = path("/f/\(name)")
                for outcome in [
                    try await connection.writes.put(item, upload, from: source),
                    try await connection.writes.makeFolder(item),
                    try await connection.writes.move(path("/f"), to: path("/\(name)"), isFolder: true),
                    try await connection.writes.copy(path("/f"), to: path("/\(name)"), isFolder: true),
                ] {
                    guard case .refused(.nameForbidden) = outcome else { throw SetupError("\(name): \(outcome)") }
                }
            }
            // The capabilities were read once.
            #expect(server.requests.count == 1 && server.receivedBytes == 0)
        }
        try await running {
            $0.nextcloud?.listsForbidden = false
        } _: { server, connection in
            let outcome = try await connection.writes.makeFolder(path("/f/.htaccess"))
            let sentence = "\".htaccess\" is a forbidden file or folder name."
            #expect(outcome == .refused(.explained(.invalid, by: sentence)))
        }
    }

    @Test("S8: what Nextcloud shows at a name that it keeps for itself is no item, and -3 bytes of room are no limit")
    func phantom() async throws {
        try await running {
            $0.nextcloud?.listsForbidden = false
        } _: { server, connection in
            #expect(try await connection.listings.held(at: path("/f/x.part")) == nil)
            #expect(try await connection.listings.held(at: path("/f"))?.available == nil)
            let outcome = try await connection.writes.put(
                path("/f/x.part"), UploadRequest(base: .new, size: 3), from: MemorySource("abc"))
            #expect(outcome == .refused(.exists))
        }
    }
}
