import DemoServer
import Logging
import Model
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Downloads under a bandwidth limit. Those of uploads are in `UploadStreamTests`.
@Suite(.serialized) struct BandwidthTests {
    private func running(
        _ bandwidth: Bandwidth, _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        try await TestServer.running { server in
            server.tree.put("/big", [UInt8](repeating: 7, count: 3_000_000))
            server.tree.put("/a", "hello")
            let first = connection(to: .at(server.url, username: server.configuration.user), server)
            try await closing(first) {
                _ = try await first.connect()
                var times = TimeLimits()
                (times.silence, times.pacePeriod) = (.seconds(4), .seconds(1))
                let paced = connection(to: first.wire.bookmark, server, Limits(slowest: 1), bandwidth, times)
                paced.wire.learn(.root(try first.wire.root(), hasFiles: true, isFamily: false))
                try await closing(paced) { try await body(server, paced) }
            }
        }
    }

    private func connection(
        to bookmark: Bookmark, _ server: TestServer, _ limits: Limits = Limits(),
        _ bandwidth: Bandwidth = Bandwidth(), _ times: TimeLimits = TimeLimits()
    ) -> Connection {
        Connection(
            bookmark: bookmark,
            credentials: .basic(username: server.configuration.user, password: server.configuration.password),
            limits: limits, bandwidth: bandwidth, clock: .system, logger: Logger(label: "test"), timeLimits: times)
    }

    /// Lets pass the time after which a silent server is given up.
    private func passSilence(_ server: TestServer, as connection: Connection) async throws {
        var times = TimeLimits()
        times.silence = .milliseconds(4_500)
        let other = self.connection(to: connection.wire.bookmark, server, Limits(slowest: 0), Bandwidth(), times)
        other.wire.learn(.root(try connection.wire.root(), hasFiles: true, isFamily: false))
        try await closing(other) {
            let silent = server.add(Fault(.hold(afterBytes: 1), method: "GET", path: "/a"))
            let error = await #expect(throws: ConnectionError.self) {
                try await other.downloads.get(path("/a"), into: MemorySink())
            }
            #expect(error?.kind == .unreachable && error?.isTimeout == true, "\(String(describing: error))")
            server.remove(silent)
        }
    }

    @Test("S37: a download that waits for bandwidth is neither slow nor silent, holds up no listing, and goes on")
    func waiting() async throws {
        let bandwidth = Bandwidth(BandwidthLimits(down: 1))
        try await running(bandwidth) { server, connection in
            let download = Task {
                let sink = MemorySink()
                let summary = try await connection.downloads.get(path("/big"), into: sink)
                return (summary.size, sink.bytes.count)
            }
            await until { bandwidth.down.waiting == 1 }
            try await passSilence(server, as: connection)
            #expect(bandwidth.down.waiting == 1)
            #expect(try await connection.entries(of: .root).0.count == 2)
            let plain = try await connection.loopRequests.exchange(
                PlainRequest("GET", try connection.wire.root().path + "a"))
            var bytes: [UInt8] = []
            while let piece = try await plain.next() { bytes += piece }
            #expect(bytes == Array("hello".utf8))

            bandwidth.setLimits(BandwidthLimits())
            #expect(try await download.value == (3_000_000, 3_000_000))
            await until { server.requests.contains { $0.method == "GET" && $0.path == "/big" } }
            #expect(server.requests.count { $0.method == "GET" && $0.path == "/big" } == 1)
        }
    }

    @Test("S37: downloads come at the limit, all connections together")
    func together() async throws {
        let bandwidth = Bandwidth(BandwidthLimits(down: 6_000_000))
        try await running(bandwidth) { server, connection in
            let pair = (0..<2).map { _ in
                self.connection(to: connection.wire.bookmark, server, Limits(), bandwidth)
            }
            for one in pair { one.wire.learn(.root(try connection.wire.root(), hasFiles: true, isFamily: false)) }
            try await closing(pair[0]) {
                try await closing(pair[1]) {
                    let began = ContinuousClock.now
                    async let one = pair[0].downloads.get(path("/big"), into: MemorySink())
                    async let two = pair[1].downloads.get(path("/big"), into: MemorySink())
                    _ = try await (one, two)
                    // A burst of 1.5 MB is free.
                    #expect(ContinuousClock.now - began >= .milliseconds(750))
                }
            }
        }
    }

    @Test("S37: a download that waits for bandwidth ends as soon as it is cancelled, and leaves its turn to others")
    func cancelled() async throws {
        let bandwidth = Bandwidth(BandwidthLimits(down: 1))
        try await running(bandwidth) { _, connection in
            let download = Task { try await connection.downloads.get(path("/big"), into: MemorySink()) }
            await until { bandwidth.down.waiting == 1 }
            download.cancel()
            let error = await #expect(throws: ConnectionError.self) { try await download.value }
            #expect(error?.kind == .cancelled && bandwidth.down.waiting == 0)
            bandwidth.setLimits(BandwidthLimits(down: 10_000_000))
            let next = try await connection.downloads.get(path("/a"), into: MemorySink())
            #expect(next.size == 5)
        }
    }
}
