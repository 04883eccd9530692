import Database
import FoundationEssentials
import ItemPolicies
import Logging
import Model
import PluginHost
import Synchronization
import TestSupport

/// Takes what processors ask for, and does with it what a test wants.
final class TestSink: IntentSink {
    private let taken = Mutex<[Intent]>([])
    private let effect: @Sendable (Intent, Transaction) throws -> Void

    init(_ effect: @escaping @Sendable (Intent, Transaction) throws -> Void) { self.effect = effect }

    var intents: [Intent] { taken.withLock { $0 } }

    func perform(_ intent: Intent, in transaction: Transaction) throws -> Bool {
        let before = transaction.changes?.updated.count
        try effect(intent, transaction)
        taken.withLock { $0.append(intent) }
        return transaction.changes?.updated.count != before
    }
}

/// A line of a trace, as far as tests look at it.
struct TracedCall: Decodable, Hashable {
    var call: String?
    var trigger: String?
    var path: String?
    /// Nil: the end of one of the calls of the call pattern.
    var phase: String?
    var what: String?
    var text: String?
    var because: String?
    var status: String?
}

/// A database, one plugin in C at work on it, and everything that it did.
struct ProcessorFixture: Sendable {
    let database: Database
    let policies: ItemPolicies
    let sink: TestSink
    let trace: TraceWriter
    let tracePath: String
    let log: CollectedLog
    let host: PluginHost

    /// All lines of the trace.
    func lines() throws -> [TracedCall] {
        try trace.check()
        return try Files.text(tracePath).split(separator: "\n")
            .map { try JSONDecoder().decode(TracedCall.self, from: Data($0.utf8)) }
    }

    /// The calls of the call pattern since the trace began.
    func calls() throws -> [TracedCall] { try lines().filter { $0.phase == nil } }

    /// Each call's name, with the item's path if it is about one.
    func names() throws -> [String] {
        try calls().map { [$0.call, $0.path].compactMap(\.self).joined(separator: " ") }
    }

    /// How many calls there were of one name.
    func count(of name: String) throws -> Int { try calls().filter { $0.call == name }.count }

    /// The names of the calls that a change gives.
    func names(after change: () async throws -> Void) async throws -> [String] {
        await policies.waitUntilIdle()
        let before = try names().count
        try await change()
        await policies.waitUntilIdle()
        return Array(try names().dropFirst(before))
    }

    @discardableResult
    func add(
        _ path: String, size: Int64? = nil, removed: Bool = false, _ status: CloudStatus = .cloudOnly
    ) async throws
        -> Item
    {
        try await database.write { transaction in
            var item = Item(localID: LocalID("id:" + path), fileID: nil, path: ItemPath(unchecked: path), kind: .file)
            item.size = size
            item.cloudStatus = status
            if removed { item.removedAt = Timestamp(seconds: 1) }
            return try transaction.items.insert(item)
        }
    }
}

/// Runs a plugin.
/// - Parameters:
///   - source: of one in C; nil: available-offline as it was built.
///   - defines: macros that choose a variant of it.
///   - settings: its settings, JSON.
///   - other: another one in C, with its settings.
///   - items: paths of files that are there before it starts.
///   - effect: what an asked action does.
func withProcessorFixture(
    _ source: String? = "wilful", defines: [String] = [], settings: [String: String] = [:],
    beside other: (source: String, settings: [String: String])? = nil, items: [String] = [], clock: HostClock = .system,
    effect: @escaping @Sendable (Intent, Transaction) throws -> Void = { _, _ in },
    _ body: @escaping @Sendable (ProcessorFixture) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let library = "\(folder)/plugin.so"
        try Files.makeFolder("\(folder)/files")
        if let source { try await CompiledPlugin.build(source, to: library, defines: defines) }
        let log = CollectedLog()
        let database = try Database.open(path: "\(folder)/larder.db")
        let id = PluginID(source.map { "org.example.\($0)" } ?? "org.larder.available-offline")
        let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        var named = [PluginSettings(id: id, library: source == nil ? nil : library, isolation: .inProcess, json: json)]
        if let other {
            try await CompiledPlugin.build(other.source, to: "\(folder)/other.so")
            named.append(
                PluginSettings(
                    id: PluginID("org.example.\(other.source)"), library: "\(folder)/other.so", isolation: .inProcess,
                    json: String(decoding: try JSONEncoder().encode(other.settings), as: UTF8.self)))
        }
        let host = PluginHost(
            builtIn: source == nil ? "\(Build.root)/.build/debug" : "\(folder)/none",
            settings: Settings(plugins: named),
            probe: ProbeCommand(arguments: [try Build.larder, "__probe"]),
            memory: DatabaseProbeMemory(database), clock: clock, logger: log.logger)
        await host.load()
        let trace = try TraceWriter(path: "\(folder)/trace")
        let plugins = await host.start(AccountEnvironment(name: "test", logger: log.logger, trace: trace))
        let sink = TestSink(effect)
        let policies = ItemPolicies(
            database: database, plugins: plugins, sink: sink, files: "\(folder)/files",
            world: { ClaimWorld(now: $0) { _ in true } }, logger: log.logger)
        let fixture = ProcessorFixture(
            database: database, policies: policies, sink: sink, trace: trace, tracePath: "\(folder)/trace", log: log,
            host: host)
        for path in items { try await fixture.add(path, size: Int64(path.utf8.count)) }
        database.setCommitObserver { policies.databaseChanged($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await policies.run() }
            try await body(fixture)
            group.cancelAll()
            try await group.waitForAll()
        }
        await host.stop(plugins)
        await host.shutDown()
        try database.close()
    }
}

/// What is told on another thread.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

extension PolicyAuthor {
    /// Where it does not matter who.
    static let somebody = PolicyAuthor.person("somebody", at: Timestamp(seconds: 1))
}
