import Database
import Glibc
import ItemPolicies
import LocalTree
import Logging
public import Model
import PluginHost
import Threads
import Vault

/// A dry run of an account's plugins on the items that the database holds. It needs no network, works beside a running
/// host and changes nothing: it reports what the plugins request instead of doing it.
///
/// The plugins are started in this process. Whatever a plugin does without its host, such as writing to a file of its
/// own, does happen.
public final class AccountPreview: Sendable {
    private let database: Database
    private let policies: ItemPolicies
    private let plugins: [PluginInstance]
    private let process: HostProcess

    private init(database: Database, policies: ItemPolicies, plugins: [PluginInstance], process: HostProcess) {
        self.database = database
        self.policies = policies
        self.plugins = plugins
        self.process = process
    }

    /// Opens the database and starts the plugins.
    /// - Throws: `.notFound` if the account has no database yet, `.localIO` if the database cannot be read,
    ///   `.cannotCreate` if the process may not open the trace file.
    public static func open(_ bookmark: Bookmark, in process: HostProcess) async throws(Failure) -> AccountPreview {
        try await open(bookmark, try Vault.openDatabaseForReading(at: bookmark.vault), in: process)
    }

    /// Makes a database of given items, and starts the plugins.
    /// - Parameters:
    ///   - items: The items. No two have the same id, nor the same path unless they are removed.
    ///   - folder: The absolute path of an empty folder for the database, which may be removed after the preview was
    ///     closed.
    /// - Throws: `.localIO` if the database cannot be written, `.cannotCreate` if the process may not open the trace
    ///   file.
    public static func open(
        _ items: [Item], in process: HostProcess, folder: String
    ) async throws(Failure) -> AccountPreview {
        let bookmark = Bookmark(
            name: "trial", url: "http://127.0.0.1:9/", username: nil, vault: folder, files: folder + "/files")
        let database: Database
        do {
            database = try await runBlocking {
                guard mkdir(bookmark.files, 0o700) == 0 else {
                    throw Failure(
                        .cannotCreate, "\(bookmark.files) cannot be made: \(String(cString: strerror(errno)))")
                }
                return try Database.open(path: folder + "/larder.db")
            }
            var rest = items[...]
            while !rest.isEmpty {
                let part = rest.prefix(mostItems)
                rest = rest.dropFirst(mostItems)
                try await database.write { transaction in for item in part { try transaction.items.insert(item) } }
            }
        } catch {
            throw Failure(of: error)
        }
        return try await open(bookmark, database, in: process)
    }

    /// The number of items in a transaction.
    private static let mostItems = 10_000

    private static func open(
        _ bookmark: Bookmark, _ database: Database, in process: HostProcess
    ) async throws(Failure) -> AccountPreview {
        let options = process.options
        var logger = options.logger.of("policies")
        logger[metadataKey: "account"] = "\(bookmark.name)"
        do {
            let sanity = try await database.read { try ClockSanity($0, clock: options.clock) }
            let clock = options.clock.believed { sanity }
            let plugins = try await process.startPlugins(
                for: bookmark, database: database, isReadOnly: true, clock: clock, logger: logger)
            let policies = ItemPolicies(
                database: database, plugins: plugins, sink: NoSink(), files: bookmark.files,
                world: { .current(now: $0) }, clock: clock, logger: logger)
            return AccountPreview(database: database, policies: policies, plugins: plugins, process: process)
        } catch {
            // The first error is the one to report.
            try? database.close()
            throw Failure(of: error)
        }
    }

    /// Stops the plugins and closes the database.
    /// - Throws: As ``Database/close()``.
    public func close() async throws(Failure) {
        await process.stopPlugins(plugins)
        try database.close()
    }

    /// Returns what each processor decides about the item at a path, or about the last item that was at that path, in
    /// the order in which the processors are called.
    /// - Throws: `.notFound` if the database knows of no item that was ever at the path; `.badData` if a stored
    ///   policy's condition does not parse; `.failed` if a plugin hangs; the database's `Failure`.
    public func explain(_ path: ItemPath) async throws(Failure) -> (item: Item, explanations: [Explanation]) {
        do {
            guard let item = try await database.read({ try $0.items.lastItem(at: path) }) else {
                throw Failure(
                    .notFound, "there is no item \(path)", hint: .listRemovedItems)
            }
            return (item, try await watched { try await self.policies.explain(item) })
        } catch {
            throw Failure(of: error)
        }
    }

    /// Reports what each processor would request after a trigger. The requests come in order, each as soon as it is
    /// found.
    /// - Parameters:
    ///   - trigger: The trigger. With `itemsChanged`, all items count as changed.
    ///   - note: Receives each request. It is called on the plugins' threads.
    /// - Throws: `.failed` if a plugin hangs or the task is cancelled, or the database's `Failure`.
    public func dryRun(_ trigger: Trigger, _ note: @escaping @Sendable (Wish) -> Void) async throws(Failure) {
        do { try await watched { try await self.policies.dryRun(trigger, note) } } catch { throw Failure(of: error) }
    }

    /// Ends the wait for a plugin that hangs.
    private func watched<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { [process] group in
            group.addTask { await process.watchPlugins() }
            defer { group.cancelAll() }
            return try await body()
        }
    }
}

/// A sink that no intent reaches: the runs of a preview are never carried out.
private struct NoSink: IntentSink {
    func perform(_ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction) throws -> IntentOutcome {
        throw Failure(.internal, "A preview requested \(intent.change.name)")
    }

    func download(
        _ items: [LocalID], whileCovered: Bool, for plugin: PluginID, in transaction: Transaction
    ) -> Set<LocalID> { [] }

    func hold(_ deletions: [LocalID], of plugin: PluginID, in transaction: Transaction) throws -> Issue? { nil }

    func countDeletions(
        after record: SyncRecordID, of plugin: PluginID, heldBy issue: IssueID?, in transaction: Transaction
    ) throws {}
}
