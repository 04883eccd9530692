import Database
import ItemPolicies
import LocalTree
import Logging
public import Model
import PluginHost
import Vault

/// An account's plugins at work on what is known of it, without network, beside a host that may be running, and without changing
/// anything: what they ask for is told instead of done.
///
/// The plugins are started in this process. What one does beside asking its host, such as writing to a file of its own, is done.
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
    /// - Throws: `.notFound` if nothing is known of the account yet, `.localIO` if the database cannot be read,
    ///   `.cannotCreate` if the trace may not be opened.
    public static func open(_ bookmark: Bookmark, in process: HostProcess) async throws(Failure) -> AccountPreview {
        let options = process.options
        var logger = options.logger
        logger[metadataKey: "account"] = "\(bookmark.name)"
        let database = try Vault.openDatabaseForReading(at: bookmark.vault)
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
            // What went wrong first is what counts.
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

    /// What each processor makes of the item at a path, or of the one that was there last; in the order of their calls.
    /// - Throws: `.notFound` if there never was one, as far as is known; `.badData` if a stored policy's condition does
    ///   not parse; `.internal` if a plugin hangs; the database's `Failure`.
    public func explain(_ path: ItemPath) async throws(Failure) -> (item: Item, explanations: [Explanation]) {
        do {
            guard let item = try await database.read({ try $0.items.lastItem(at: path) }) else {
                throw Failure(
                    .notFound, "there is no item \(path)", hint: "`larder ls -r --removed` lists what is known")
            }
            return (item, try await policies.explain(item))
        } catch {
            throw Failure(of: error)
        }
    }

    /// What each processor would ask for after a trigger, in order, as it is found out.
    /// - Parameters:
    ///   - trigger: not `itemsChanged`, which is about items that just changed.
    ///   - note: called on threads of the plugins'.
    /// - Throws: `.internal` if a plugin hangs, `.failed` if the task is cancelled, or the database's `Failure`.
    public func dryRun(_ trigger: Trigger, _ note: @escaping @Sendable (Wish) -> Void) async throws(Failure) {
        do { try await policies.dryRun(trigger, note) } catch { throw Failure(of: error) }
    }
}

/// Nothing comes here: a preview's runs are never carried out.
private struct NoSink: IntentSink {
    func perform(_ intent: Intent, in transaction: Transaction) throws -> Bool {
        throw Failure(.internal, "A preview asked for \(intent.change.name)")
    }
}
