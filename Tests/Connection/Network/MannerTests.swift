import DemoServer
import Logging
import Model
import Synchronization
import TestServer
import Testing

@testable import Connection

/// Tests of servers with permitted peculiarities.
struct MannerTests {
    private func running(
        _ change: (inout Manner) -> Void = { _ in }, logger: Logger = Logger(label: "test"),
        _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        var configuration = TestServer.Configuration()
        change(&configuration.manner)
        configuration.layout = .prefix("/some/dav")
        try await TestServer.running(configuration) { server in
            server.tree.put("/a", "hello", modified: 1_700_000_000)
            let connection = Connection(
                bookmark: .at(server.folderURL, username: server.configuration.user),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                logger: logger)
            try await closing(connection) {
                _ = try await connection.connect()
                try await body(server, connection)
            }
        }
    }

    @Test(
        "whatever ETags a server has: the listed version is downloaded as such, and another is seen", arguments: 0..<6)
    func etags(_ number: Int) async throws {
        let kinds: [Manner.FileETags] = [.strong, .weak, .unquoted, .none, .onlyOnGet, .ofSizeAndSecond]
        let kind = kinds[number]
        try await running { manner in
            manner = .plain
            manner.fileETags = kind
        } _: { server, connection in
            let listed = try await connection.entries(of: .root).entries
            let item = try #require(listed.first)
            let version = try #require(item.etag)
            let request = DownloadRequest(version: version, size: item.size)
            switch kind {
            case .none, .onlyOnGet: #expect(version.strength == .substitute)
            case .weak: #expect(version.strength == .weak)
            default: #expect(version.strength == .strong)
            }
            let sink = MemorySink()
            _ = try await connection.downloads.get(item.path, request: request, into: sink)
            #expect(sink.head?.version == version && sink.bytes == Array("hello".utf8))

            server.tree.put("/a", "other", modified: 1_700_000_009)
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.downloads.get(item.path, request: request, into: MemorySink())
            }
            #expect(error?.kind == .versionChanged)
        }
    }

    @Test("an answer without a length, and a server that ignores Range")
    func lengths() async throws {
        try await running { manner in
            (manner.contentLength, manner.ranges) = (false, false)
        } _: { _, connection in
            let item = try await connection.listings.list(path("/a"), depth: .zero) { _ in }.folder
            let sink = MemorySink()
            let summary = try await connection.downloads.get(
                item.path, request: .init(version: item.etag, size: 5, offset: 2), into: sink)
            #expect(sink.head?.offset == 0 && sink.head?.size == nil && summary.size == 5)
        }
    }

    @Test("Depth: infinity that is answered with one level tells so")
    func oneLevel() async throws {
        try await running {
            $0.depthInfinity = .oneLevel
        } _: { server, connection in
            server.tree.put("/folder/below/deep", "x")
            let (entries, listing) = try await connection.entries(of: .root, depth: .infinity)
            #expect(entries.map(\.path.text).sorted() == ["/a", "/folder"] && !listing.reachesGrandchildren)
        }
    }

    @Test("C1: at the finest level the log holds no secret")
    func log() async throws {
        let lines = CollectedLog()
        var logger = Logger(label: "test") { _ in CollectingHandler(log: lines) }
        logger.logLevel = .trace
        try await running(logger: logger) { server, connection in
            _ = try await connection.entries(of: .root)
            connection.use(.bearer(token: "a-token-that-is-wrong"))
            await #expect(throws: ConnectionError.self) { try await connection.connect() }
            let text = lines.all.joined(separator: "\n")
            #expect(text.contains("PROPFIND") && text.contains("401"))
            for secret in [server.configuration.password, "a-token-that-is-wrong", "Basic ", "Bearer "] {
                #expect(!text.contains(secret))
            }
        }
    }
}

private final class CollectedLog: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct CollectingHandler: LogHandler {
    let log: CollectedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.add("\(event.message) \(event.metadata ?? [:]) \(metadata)")
    }
}
