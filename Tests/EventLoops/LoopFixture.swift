import Connection
import Database
import EventLoops
import EventScheduler
import FoundationEssentials
import Logging
import Model
import PluginHost
import Synchronization
import TestServer
import TestSupport

/// The members of a trace line that tests read.
struct TracedCall: Decodable, Hashable {
    var call: String?
    var loop: String?
    var phase: String?
    var what: String?
    var text: String?
    var because: String?
    var status: String?
}

/// A database, a server, a C plugin with event loops, and a record of everything that the plugin did.
struct LoopFixture: Sendable {
    let database: Database
    let connection: Connection
    let host: PluginHost
    let plugin: PluginInstance
    let loops: EventLoops
    let server: TestServer
    let trace: TraceWriter
    let tracePath: String
    let log: CollectedLog
    let looks: Counter
    let folder: String

    static let plugin = PluginID("org.example.looper")
    static let loop = LoopKey(kind: LoopKind("looper"), id: LoopID("looper"))
    static let own = RecordCollection("org.example.looper")

    /// Returns all lines of the trace.
    func lines() throws -> [TracedCall] {
        try trace.check()
        return try Files.text(tracePath).split(separator: "\n")
            .map { try JSONDecoder().decode(TracedCall.self, from: Data($0.utf8)) }
    }

    /// Returns the calls into loops since the trace began.
    func calls() throws -> [String] {
        try lines().filter { $0.phase == nil }.map { "\($0.call ?? "-") \($0.loop ?? "-") \($0.status ?? "-")" }
    }

    /// The plugin's messages, in order.
    var said: [String] {
        log.messages.filter { $0.hasPrefix("info: ") }.map { String($0.dropFirst(6)) }
    }

    func state(_ key: LoopKey = loop) async throws -> LoopState? { try await database.read { try $0.loops.loop(key) } }

    func loopIDs() async throws -> [String] {
        try await database.read { try $0.loops.all() }.map(\.key.id.text)
    }

    /// Returns the keys and versions of the plugin's own records.
    func records(in collection: RecordCollection = own) async throws -> [String] {
        try await database.read { tx in
            var found: [String] = []
            try tx.records.each(in: collection, .version) { record in
                found.append(record.version.isEmpty ? record.key.text : "\(record.key)=\(record.version)")
                return true
            }
            return found
        }
    }

    func setEventID(_ id: String, of key: LoopKey = loop) async throws {
        try await database.write { tx in
            let from = try tx.loops.eventID(of: key)
            let state = LoopState(key: key, plugin: Self.plugin, eventID: EventID(id))
            _ = try tx.loops.commit(LoopTurnCommit(from: from, state: state))
        }
    }
}

/// Runs the test plugin and calls `body` with its fixture.
/// - Parameters:
///   - defines: The macros that choose a variant of the plugin.
///   - clock: The clock by which time limits, of 600 s each, are measured.
///   - connections: The value of `limits.connections`.
///   - recordQuota: The bytes that the plugin's records may take.
///   - startsAt: The loop's event id before anything runs; nil for none.
func withLoopFixture(
    defines: [String] = [], mode: String = "", pages: Int = 3, target: String = "/", startsAt: String? = "0",
    clock: HostClock = .system, connections: Int = 8, recordQuota: Int64 = PluginSettings.defaultRecordQuota,
    log: CollectedLog = CollectedLog(),
    _ body: @escaping @Sendable (LoopFixture) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        try await TestServer.running { server in
            let library = "\(folder)/looper.so"
            try await CompiledPlugin.build("looper", to: library, defines: defines)
            let database = try Database.open(path: "\(folder)/larder.db")
            // FOLDER stands for the path of the account's files.
            let path = server.folderURL.split(separator: "/", maxSplits: 2).dropFirst(2).first.map { "/" + $0 } ?? ""
            let target = target.replacing("FOLDER", with: path)
            let json = String(
                decoding: try JSONEncoder().encode(["mode": mode, "pages": "\(pages)", "target": target]), as: UTF8.self
            )
            var settings = PluginSettings(id: LoopFixture.plugin, library: library, isolation: .inProcess, json: json)
            settings.recordQuota = recordQuota
            let host = PluginHost(
                builtIn: "\(folder)/none", settings: Settings(plugins: [settings]),
                probe: ProbeCommand(arguments: [try Build.larder, "__probe"]), memory: nil, logger: log.logger)
            await host.load()
            let trace = try TraceWriter(path: "\(folder)/trace")
            let plugins = await host.start(AccountEnvironment(name: "test", logger: log.logger, trace: trace))
            guard let plugin = plugins.first else { throw SetupError("\(log.messages)") }
            let connection = Connection(
                bookmark: Bookmark(
                    name: "test", url: server.folderURL, username: server.configuration.user, vault: folder,
                    files: "\(folder)/files"),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                limits: Limits(connections: connections), logger: log.logger)
            let looks = Counter()
            let loops = EventLoops(
                database: database, connection: connection, plugins: plugins,
                limits: .init(polling: .seconds(600), processing: .seconds(600)), clock: clock,
                callbacks: .init(requestScan: { looks.add() }, refused: {}, recordsChanged: { _ in }),
                logger: log.logger)
            try await loops.enable()
            let fixture = LoopFixture(
                database: database, connection: connection, host: host, plugin: plugin, loops: loops, server: server,
                trace: trace, tracePath: "\(folder)/trace", log: log, looks: looks, folder: folder)
            if let startsAt { try await fixture.setEventID(startsAt) }
            do { try await body(fixture) } catch {
                print(log.messages.joined(separator: "\n"))
                throw error
            }
            await loops.suspend()
            await host.stop(plugins)
            await host.shutDown()
            await connection.shutdown()
            try database.close()
        }
    }
}
