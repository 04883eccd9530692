import Database
import ItemPolicies
import Logging
import Model
import PluginHost
import Synchronization

/// One plugin that runs in process on a database.
struct AtWork {
    let policies: ItemPolicies
    let said: Said
    private let host: PluginHost
    private let plugins: [PluginInstance]
    private let database: Database

    /// Starts the plugin.
    /// - Parameters:
    ///   - library: the path of the plugin's library.
    ///   - settings: the plugin's settings as a JSON object.
    init(on database: Database, plugin: String, library: String, settings: String) async throws {
        self.database = database
        let said = Said()
        self.said = said
        let logger = Logger(label: "benchmark") { _ in said }
        host = PluginHost(
            builtIn: "/nonexistent",
            settings: Settings(plugins: [
                PluginSettings(id: PluginID(plugin), library: library, isolation: .inProcess, json: settings)
            ]), probe: ProbeCommand(arguments: []), memory: TriedBefore(), logger: logger)
        await host.load()
        plugins = await host.start(AccountEnvironment(name: "benchmark", logger: logger))
        guard !plugins.isEmpty else { throw BenchmarkError("the plugin \(library) does not start: \(said.last)") }
        policies = ItemPolicies(
            database: database, plugins: plugins, sink: Nothing(), files: "/",
            world: { ClaimWorld(now: $0) { _ in true } }, logger: logger)
        let policies = policies
        database.setCommitObserver { policies.databaseChanged($0) }
    }

    /// Runs the body beside the processors, and stops the processors after it.
    func run(_ body: () async throws -> Void) async throws {
        let policies = policies
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await policies.run() }
            try await body()
            group.cancelAll()
        }
        database.setCommitObserver { _ in }
        await host.stop(plugins)
        await host.shutDown()
    }

    /// Returns the processor time that a change and the runs that it triggers take.
    func time(_ change: () throws -> Void) async throws -> Duration {
        let start = processorTime()
        try change()
        await policies.waitUntilIdle()
        let time = processorTime() - start
        if let failure = policies.takeFailures().first { throw BenchmarkError("\(failure)") }
        return time
    }
}

/// An intent sink that accepts intents and does nothing.
private struct Nothing: IntentSink {
    func perform(_ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction) -> IntentOutcome { .idle }
    func download(
        _ items: [LocalID], whileCovered: Bool, for plugin: PluginID, in transaction: Transaction
    ) -> Set<LocalID> { [] }

    func hold(_ deletions: [LocalID], of plugin: PluginID, in transaction: Transaction) -> Issue? { nil }
    func countDeletions(
        after record: SyncRecordID, of plugin: PluginID, heldBy issue: IssueID?, in transaction: Transaction
    ) {}
}

/// A probe memory in which every library was tried before, so that no library is opened in a child process.
private struct TriedBefore: ProbeMemory {
    func library(digest: [UInt8], hostMinor: Int) -> ProbedLibrary? { ProbedLibrary(refusal: nil) }
    func remember(_ library: ProbedLibrary, digest: [UInt8], hostMinor: Int) {}
}

/// A log handler that keeps the last line.
final class Said: LogHandler, Sendable {
    private let line = Mutex("")

    var last: String { line.withLock { $0 } }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) { line.withLock { $0 = event.message.description } }
}
