import Database
import FoundationEssentials
import ItemPolicies
import Logging
import Model
import PluginHost
import Synchronization
import TestSupport

/// A sink that records the processors' intents and applies the test's effect to each of them.
final class TestSink: IntentSink {
    private let taken = Mutex<[Intent]>([])
    private let together = Mutex<[[LocalID]]>([])
    private let held = Mutex<[LocalID]>([])
    private let effect: @Sendable (Intent, Transaction) throws -> Void

    init(_ effect: @escaping @Sendable (Intent, Transaction) throws -> Void) { self.effect = effect }

    var intents: [Intent] { taken.withLock { $0 } }

    /// The items whose downloads were requested together.
    var batches: [[LocalID]] { together.withLock(\.self) }

    /// The deletions on the server that were to be decided about together.
    var deletions: [LocalID] { held.withLock { $0 } }

    func perform(_ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction) throws -> IntentOutcome {
        let before = transaction.changes?.updated.count
        do { try effect(intent, transaction) } catch let refusal as RefusedIntent { return .refused(refusal.why) }
        taken.withLock { $0.append(intent) }
        return transaction.changes?.updated.count != before ? .effective : .idle
    }

    /// Takes the downloads on which the effect has an effect, and leaves the others to ``perform(_:heldBy:in:)``.
    func download(
        _ items: [LocalID], whileCovered: Bool, for plugin: PluginID, in transaction: Transaction
    ) throws -> Set<LocalID> {
        var queued: Set<LocalID> = []
        for item in items {
            let intent = Intent(plugin: plugin, change: .download(item, whileCovered: whileCovered), key: nil)
            let before = transaction.changes?.updated.count
            do { try effect(intent, transaction) } catch is RefusedIntent { continue }
            guard transaction.changes?.updated.count != before else { continue }
            taken.withLock { $0.append(intent) }
            queued.insert(item)
        }
        together.withLock { $0.append(items) }
        return queued
    }

    func hold(_ deletions: [LocalID], of plugin: PluginID, in transaction: Transaction) throws -> Model.Issue? {
        held.withLock { $0 += deletions }
        return nil
    }

    func countDeletions(
        after record: SyncRecordID, of plugin: PluginID, heldBy issue: IssueID?, in transaction: Transaction
    ) throws {}

}

/// What an effect throws to have its intent refused.
struct RefusedIntent: Error {
    var why: String
}

/// The members of a trace line that tests read.
struct TracedCall: Decodable, Hashable {
    var call: String?
    var trigger: String?
    var path: String?
    /// The phase of the line; nil for the end of a call of the call pattern.
    var phase: String?
    var what: String?
    var text: String?
    var because: String?
    var status: String?
}

/// A database, a C plugin that works on the database, and a record of everything that the plugin did.
struct ProcessorFixture: Sendable {
    let database: Database
    let policies: ItemPolicies
    let sink: TestSink
    let trace: TraceWriter
    let tracePath: String
    let log: CollectedLog
    let host: PluginHost

    /// Returns all lines of the trace.
    func lines() throws -> [TracedCall] {
        try trace.check()
        return try Files.text(tracePath).split(separator: "\n")
            .map { try JSONDecoder().decode(TracedCall.self, from: Data($0.utf8)) }
    }

    /// Returns the calls of the call pattern since the trace began.
    func calls() throws -> [TracedCall] { try lines().filter { $0.phase == nil } }

    /// Returns the name of each call, with the item's path if the call concerns an item.
    func names() throws -> [String] {
        try calls().map { [$0.call, $0.path].compactMap(\.self).joined(separator: " ") }
    }

    /// Returns the number of calls with this name.
    func count(of name: String) throws -> Int { try calls().filter { $0.call == name }.count }

    /// Makes a change and returns the names of the calls that follow from it.
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

/// Runs a plugin and calls `body` with its fixture.
/// - Parameters:
///   - source: The name of a plugin in C; nil for the built available-offline plugin.
///   - defines: The macros that choose a variant of the plugin.
///   - headers: The folder of the headers; nil for those of this version.
///   - settings: The plugin's settings, which are passed as JSON.
///   - grants: What the plugin is granted.
///   - other: Another plugin in C and its settings.
///   - rankOfOther: The position of the plugin beside it in `plugins.order`.
///   - valueQuota: The bytes that the plugin's values may take.
///   - items: The paths of files that exist before the plugin starts.
///   - effect: The effect of each intent on the database.
func withProcessorFixture(
    _ source: String? = "wilful", defines: [String] = [], headers: String? = nil, settings: [String: String] = [:],
    grants: Set<PluginSettings.Grant> = [], beside other: (source: String, settings: [String: String])? = nil,
    rankOfOther: Int? = nil,
    valueQuota: Int64 = PluginSettings.defaultValueQuota, items: [String] = [], clock: HostClock = .system,
    effect: @escaping @Sendable (Intent, Transaction) throws -> Void = { _, _ in },
    _ body: @escaping @Sendable (ProcessorFixture) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let library = "\(folder)/plugin.so"
        try Files.makeFolder("\(folder)/files")
        if let source { try await CompiledPlugin.build(source, to: library, defines: defines, headers: headers) }
        let log = CollectedLog()
        let database = try Database.open(path: "\(folder)/larder.db")
        let id = PluginID(source.map { "org.example.\($0)" } ?? "org.larder.available-offline")
        let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        var named = [
            PluginSettings(
                id: id, library: source == nil ? nil : library, isolation: .inProcess, json: json, grants: grants)
        ]
        named[0].valueQuota = valueQuota
        if let other {
            try await CompiledPlugin.build(other.source, to: "\(folder)/other.so")
            named.append(
                PluginSettings(
                    id: PluginID("org.example.\(other.source)"), library: "\(folder)/other.so", isolation: .inProcess,
                    json: String(decoding: try JSONEncoder().encode(other.settings), as: UTF8.self)))
            named[1].rank = rankOfOther
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

/// A collection of values that are reported on another thread.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

extension PolicyAuthor {
    /// An author for tests in which the author does not matter.
    static let somebody = PolicyAuthor.person("somebody", at: Timestamp(seconds: 1))
}
