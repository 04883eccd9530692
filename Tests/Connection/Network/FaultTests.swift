import DemoServer
import Logging
import Model
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Tests of a connection to a server that fails on purpose.
struct FaultTests {
    private func running(
        limits: Limits = Limits(), _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        try await TestServer.running { server in
            server.tree.put("/big", [UInt8](repeating: 7, count: 3_000_000))
            server.tree.put("/a", "hello")
            let connection = Connection(
                bookmark: .at(server.url, username: server.configuration.user),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                limits: limits, logger: Logger(label: "test"))
            try await closing(connection) {
                _ = try await connection.connect()
                try await body(server, connection)
            }
        }
    }

    @Test("S14, C5: a download that is cut off goes on where it stopped")
    func cutOff() async throws {
        try await running { server, connection in
            let item = try await connection.listings.list(path("/big"), depth: .zero) { _ in }.folder
            server.add(Fault(.cutOff(afterBytes: 1_000_000), method: "GET", path: "/big", times: 1))
            let sink = MemorySink()
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(
                    path("/big"), request: .init(version: item.etag, size: item.size), into: sink)
            }
            #expect(error?.kind == .unreachable && sink.bytes.count <= 1_000_000)
            let rest = MemorySink()
            let offset = Int64(sink.bytes.count)
            let summary = try await connection.downloads.get(
                path("/big"), request: .init(version: item.etag, size: item.size, offset: offset), into: rest)
            #expect(rest.head?.offset == offset && summary.size == 3_000_000)
            #expect(sink.bytes.count + rest.bytes.count == 3_000_000)
        }
    }

    @Test("I13: a web page, an empty and a truncated listing are errors")
    func listings() async throws {
        try await running { server, connection in
            for kind in [Fault.Kind.page, .emptyListing, .truncatedListing] {
                let fault = server.add(Fault(kind, method: "PROPFIND"))
                let error = await #expect(throws: ConnectionError.self) { try await connection.entries(of: .root) }
                #expect(error?.kind == .protocolViolation)
                server.remove(fault)
            }
            let (entries, _) = try await connection.entries(of: .root)
            #expect(entries.count == 2)
        }
    }

    @Test("S14, S16: a wrong length is seen; a wrong checksum is passed on; a version that changed is seen")
    func downloads() async throws {
        try await running { server, connection in
            let item = try await connection.listings.list(path("/a"), depth: .zero) { _ in }.folder
            let request = DownloadRequest(version: item.etag, size: item.size)
            for length in [-2, 3] {
                let fault = server.add(Fault(.wrongLength(by: length), method: "GET", path: "/a"))
                let error = await #expect(throws: ConnectionError.self) {
                    try await connection.downloads.get(path("/a"), request: request, into: MemorySink())
                }
                #expect(error?.kind == .versionChanged)
                server.remove(fault)
            }
            let sink = MemorySink()
            let right = try await connection.downloads.get(path("/a"), request: request, into: sink).head.checksums
            #expect(!right.isEmpty)
            let fault = server.add(Fault(.wrongChecksum, method: "GET", path: "/a"))
            #expect(
                try await connection.downloads.get(path("/a"), request: request, into: MemorySink()).head.checksums
                    != right)
            server.remove(fault)
            server.add(Fault(.changedBeforeReading, method: "GET", path: "/a"))
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(path("/a"), request: request, into: MemorySink())
            }
            #expect(error?.kind == .versionChanged)
        }
    }

    @Test("a cancelled task's request ends, before the answer and in the middle of it")
    func cancelling() async throws {
        try await running { server, connection in
            for fault in [Fault(.hold(), method: "GET"), Fault(.hold(afterBytes: 1_000), method: "GET")] {
                let hold = server.add(fault)
                let download = Task { try await connection.downloads.get(path("/big"), into: MemorySink()) }
                await server.untilHeld(hold)
                download.cancel()
                let error = await #expect(throws: ConnectionError.self) { try await download.value }
                #expect(error?.kind == .cancelled)
                server.remove(hold)
            }
            let summary = try await connection.downloads.get(path("/a"), into: MemorySink())
            #expect(summary.size == 5)
        }
    }

    @Test("a server that falls silent before or in its answer is given up")
    func silence() async throws {
        try await running { server, connection in
            var times = TimeLimits()
            (times.head, times.silence) = (.milliseconds(300), .milliseconds(200))
            let hasty = Connection(
                bookmark: connection.wire.bookmark,
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                limits: Limits(), clock: .system, logger: Logger(label: "test"), timeLimits: times)
            hasty.wire.learn(.root(try connection.wire.root(), hasFiles: true, isFamily: false))
            try await closing(hasty) {
                for fault in [Fault(.hold(), method: "GET"), Fault(.hold(afterBytes: 1_000), method: "GET")] {
                    let hold = server.add(fault)
                    let error = await #expect(throws: ConnectionError.self) {
                        try await hasty.downloads.get(path("/big"), into: MemorySink())
                    }
                    #expect(error?.kind == .unreachable)
                    server.remove(hold)
                }
            }
        }
    }

    /// Calls `body` with another connection to the server, which has these limits.
    private func connecting(
        to server: TestServer, as connection: Connection, slowest: Int64 = 1000,
        _ change: (inout TimeLimits) -> Void, _ body: (Connection) async throws -> Void
    ) async throws {
        var times = TimeLimits()
        change(&times)
        let other = Connection(
            bookmark: connection.wire.bookmark,
            credentials: .basic(username: server.configuration.user, password: server.configuration.password),
            limits: Limits(slowest: slowest), clock: .system, logger: Logger(label: "test"), timeLimits: times)
        other.wire.learn(.root(try connection.wire.root(), hasFiles: true, isFamily: false))
        try await closing(other) { try await body(other) }
    }

    /// Starts downloads that the server stops in the middle, and waits until each was given up for its pace.
    private func expectSlow(_ connection: Connection, times: Int = 1) async throws {
        for _ in 0..<times {
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(path("/big"), into: MemorySink())
            }
            #expect(error?.kind == .unreachable && error?.isTimeout == true, "\(String(describing: error))")
        }
    }

    @Test("C12: a download or listing whose bytes stop is given up, with server, path, rate and limit; C5: it goes on")
    func slow() async throws {
        try await running { server, connection in
            try await connecting(to: server, as: connection) {
                $0.pacePeriod = .milliseconds(600)
            } _: { hasty in
                let item = try await connection.listings.list(path("/big"), depth: .zero) { _ in }.folder
                let hold = server.add(Fault(.hold(afterBytes: 1_000), method: "GET"))
                let sink = MemorySink()
                let error = await #expect(throws: ConnectionError.self) {
                    try await hasty.downloads.get(
                        path("/big"), request: .init(version: item.etag, size: item.size), into: sink)
                }
                let message = error?.message ?? ""
                #expect(message.hasPrefix("http://127.0.0.1:\(server.port) sent only"), "\(message)")
                #expect(message.contains("while downloading /big"), "\(message)")
                #expect(message.contains("bytes per second") && message.contains("1000 of `limits.slowest`"))
                #expect(error?.kind == .unreachable && sink.bytes.count == 1_000)
                server.remove(hold)
                let rest = MemorySink()
                _ = try await connection.downloads.get(
                    path("/big"), request: .init(version: item.etag, size: item.size, offset: 1_000), into: rest)
                #expect(rest.head?.offset == 1_000 && rest.bytes.count == 2_999_000)

                server.add(Fault(.hold(afterBytes: 200), method: "PROPFIND"))
                let listing = await #expect(throws: ConnectionError.self) { try await hasty.entries(of: .root) }
                #expect(listing?.message.contains("bytes per second") == true, "\(String(describing: listing))")
                #expect(listing?.message.contains("listing /") == true)
                server.removeFaults()
            }
        }
    }

    @Test("C12: time in which the reader takes nothing does not count, and a stream may take any time")
    func busyReader() async throws {
        try await running { server, connection in
            for number in 0..<2_000 { server.tree.put("/many/f\(number)", "") }
            try await connecting(to: server, as: connection, slowest: 1) {
                $0.pacePeriod = .seconds(1)
            } _: { patient in
                let slow = server.add(Fault(.hold(afterBytes: 1), method: "GET", path: "/big"))
                let quiet = server.add(Fault(.hold(afterBytes: 1), method: "GET", path: "/a"))
                let stream = try await patient.loopRequests.exchange(
                    PlainRequest("GET", try connection.wire.root().path + "a"))
                let reading = Task {
                    var bytes: [UInt8] = []
                    while let piece = try await stream.next() { bytes += piece }
                    return bytes
                }
                let hold = server.add(Fault(.hold(afterBytes: 500_000), method: "PROPFIND", path: "/many"))
                var entries = 0
                let listing = try await patient.listings.list(path("/many")) { batch in
                    // In this time two other transfers were found to be slow.
                    if entries == 0 {
                        await server.untilHeld(hold)
                        try await expectSlow(patient, times: 2)
                        server.remove(hold)
                    }
                    entries += batch.count
                }
                #expect(entries == 2_000 && listing.entries == 2_000)
                server.remove(quiet)
                #expect(try await reading.value == Array("hello".utf8))
                server.remove(slow)
            }
        }
    }

    @Test("C12: with `slowest` at 0 a transfer may take any time")
    func noLimit() async throws {
        try await running { server, connection in
            try await connecting(to: server, as: connection, slowest: 0) {
                $0.pacePeriod = .milliseconds(120)
            } _: { patient in
                let hold = server.add(Fault(.hold(afterBytes: 1_000), method: "GET", path: "/big"))
                let download = Task {
                    let sink = MemorySink()
                    _ = try await patient.downloads.get(path("/big"), into: sink)
                    return sink.bytes.count
                }
                await server.untilHeld(hold)
                try await connecting(to: server, as: connection) {
                    $0.pacePeriod = .milliseconds(240)
                } _: { hasty in
                    try await expectSlow(hasty, times: 2)
                }
                server.remove(hold)
                #expect(try await download.value == 3_000_000)
            }
        }
    }

    @Test("C12: a small document that does not end is given up by its time, and one that is too long by its length")
    func documents() async throws {
        try await running { server, connection in
            try await connecting(to: server, as: connection) {
                $0.document = .milliseconds(300)
            } _: { hasty in
                let silent = server.add(Fault(.hold(afterBytes: 5), method: "GET", path: "/status.php"))
                let error = await #expect(throws: ConnectionError.self) { try await hasty.connect() }
                #expect(error?.kind == .unreachable && error?.isTimeout == true)
                #expect(error?.message.contains("asking for status.php") == true, "\(String(describing: error))")
                #expect(error?.message.contains("0.3 seconds") == true)
                server.remove(silent)

                let broken = [Fault.Kind.refusal(500, precondition: nil), .hold(afterBytes: 10)].map {
                    server.add(Fault($0, method: "GET"))
                }
                let failed = await #expect(throws: ConnectionError.self) {
                    try await hasty.downloads.get(path("/a"), into: MemorySink())
                }
                #expect(failed?.kind == .serverError && failed?.status == 500)
                for fault in broken { server.remove(fault) }
            }
            // A document of any length may be there. It is no status document, so the url itself is asked for files.
            let long = server.add(Fault(.endless(200), method: "GET", path: "/status.php"))
            let plain = await #expect(throws: ConnectionError.self) { try await connection.connect() }
            #expect(plain?.status == 404)
            server.remove(long)
            let capabilities = server.add(
                Fault(.endless(200), method: "GET", path: "/ocs/v1.php/cloud/capabilities"))
            let (found, isSure) = try await connection.wire.capabilities(
                at: RootCandidates.home(of: try connection.wire.root()), isGuess: false)
            #expect(found == nil && isSure)
            server.remove(capabilities)
        }
    }

    @Test(
        "C2: a refusal that does not end is given up at its head; nothing more is asked before there is a new password",
        .timeLimit(.minutes(20)),
        arguments: [[Fault.Kind.endless(401)], [.refusal(401, precondition: nil), .hold(afterBytes: 10)]])
    func endlessRefusal(_ kinds: [Fault.Kind]) async throws {
        var limits = Limits()
        limits.connections = 1
        try await running(limits: limits) { server, connection in
            // There are more rounds than permitted connections, so no round may leave a connection open.
            for round in 1...10 {
                let faults = kinds.map { server.add(Fault($0, method: round % 2 == 0 ? "GET" : "PROPFIND")) }
                server.forgetRequests()
                for attempt in 1...3 {
                    let error = await #expect(throws: ConnectionError.self) {
                        if (round % 2 == 0) == (attempt == 1) {
                            _ = try await connection.downloads.get(path("/a"), into: MemorySink())
                        } else {
                            _ = try await connection.listings.list(.root) { _ in }
                        }
                    }
                    #expect(error?.kind == .authentication)
                }
                for fault in faults { server.remove(fault) }
                // The server logs the request when it has noticed that the client has stopped reading.
                await until { !server.requests.isEmpty }
                connection.use(
                    .basic(username: server.configuration.user, password: server.configuration.password))
                _ = try await connection.connect()
                #expect(try await connection.downloads.get(path("/a"), into: MemorySink()).size == 5)
                #expect(try await connection.entries(of: .root).0.count == 2)
                #expect(server.requests.count { $0.status == 401 } == 1)
            }
        }
    }

    @Test("a port where nobody listens, and a name that has no address, are unreachable")
    func nobody() async throws {
        let port = try await TestServer.running { $0.port }
        for url in ["http://127.0.0.1:\(port)/", "http://no-such-host.invalid/", "https://127.0.0.1:\(port)/"] {
            let connection = Connection(bookmark: .at(url), credentials: .none, logger: Logger(label: "test"))
            try await closing(connection) {
                let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
                #expect(error?.kind == .unreachable && error?.failure.kind == .unreachable)
            }
        }
    }

    @Test("a header that cannot be sent is refused without being shown")
    func badToken() async throws {
        try await TestServer.running { server in
            let connection = Connection(
                bookmark: .at(server.url), credentials: .bearer(token: "secret\r\nX: y"), logger: Logger(label: "test"))
            try await closing(connection) {
                let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
                #expect(error?.kind == .badAddress && error?.description.contains("secret") == false)
            }
        }
    }
}
