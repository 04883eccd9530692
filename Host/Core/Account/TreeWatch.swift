import Database
import ItemPolicies
import LocalTree
import Logging
import Model
import PluginHost
import SyncEngine
import Synchronization
import Threads
import Vault

/// A watch on the tree while an account runs. It notices what persons and programs do in the tree, and updates the
/// rows.
struct TreeWatch: Sendable {
    private let host: AccountHost
    private let watcher: TreeWatcher
    private let signal: Signal
    private let tasks = RestTasks()

    /// What the checks of the process found to do.
    private final class RestTasks: Sendable {
        /// Whether folders that can be read again are to be searched for.
        let search = Atomic(true)
        /// Whether the database's connections that read are to be closed.
        let close = Atomic(false)
        /// The state of the database, by its number of writes, in which there was no unreadable folder; -1 if there may
        /// be some.
        let searched = Atomic(-1)
    }

    /// The interval between comparisons of everything where not every folder can be watched.
    static let scanInterval = Duration.seconds(300)
    /// The shortest interval between resets of the processors' limit on repeated requests. A change by hand resets the
    /// limit, so that a pinned copy that was removed by hand is downloaded again. The interval keeps that from
    /// repeating without end where some program removes the copy each time.
    private static let forgiving = Duration.seconds(3600)

    /// Begins to watch the tree. The caller must call ``end()`` when it is done.
    init(_ host: AccountHost) async throws {
        let signal = Signal()
        (self.host, self.signal) = (host, signal)
        watcher = try TreeWatcher(
            host.vault.tree, uses: host.state.uses, readers: UseReaders(ignoring: host.ignoredReaders),
            clock: host.clock.now, monotonic: host.clock.monotonic
        ) { signal.send() }
        await watcher.walk()
    }

    func end() async { await watcher.end() }

    /// Marks paths to be compared soon.
    func recheck(_ paths: [ItemPath]) { watcher.retry(paths.map { DirtyPaths.Due(path: $0) }) }

    /// Compares changed paths as the changes happen, until the task is cancelled.
    /// - Throws: `.localIO` if the tree's root is not in its place: nobody removed the files that are missing then.
    func run() async throws {
        var limit: Failure?
        var hasToldOfUses = false
        var scansAt = Duration.zero
        var forgivesAt = Duration.zero
        while true {
            try Task.checkCancellation()
            try await seeToRoot()
            try await doRestingTasks()
            if watcher.limit != nil, limit != nil, host.clock.monotonic() >= scansAt {
                // The limit may have changed by now.
                await watcher.walk()
                watcher.markAll()
                scansAt = host.clock.monotonic() + Self.scanInterval
            }
            if (watcher.limit == nil) != (limit == nil) {
                limit = watcher.limit
                scansAt = host.clock.monotonic() + Self.scanInterval
                tell(limit)
            }
            if watcher.areUsesMissed, !hasToldOfUses {
                host.logger.notice(
                    "The system grants no more watches: uses of copies are found only by the copies' access times")
                hasToldOfUses = true
            }
            try await writeUses()
            if try await compare(watcher.take()), host.clock.monotonic() >= forgivesAt {
                host.policies.changedFromOutside()
                forgivesAt = host.clock.monotonic() + Self.forgiving
            }
            try await wait(atMost: watcher.next())
        }
    }

    /// Does what a check at rest has found to do, in a place among the accounts that do so at once.
    private func doRestingTasks() async throws {
        let searches = tasks.search.exchange(false, ordering: .relaxed)
        let closes = tasks.close.exchange(false, ordering: .relaxed)
        guard searches || closes else { return }
        let place = try await host.process.resting.enter()
        defer { place.leave() }
        if searches { try await seeToUnreadable() }
        if closes, await host.database.closeUnused() {
            host.process.freedMemory.note(at: host.clock.monotonic())
        }
    }

    /// Has the process wake the watch for what no event tells of, until the task is cancelled.
    func keepChecking() async {
        await host.process.makeChecks(
            {
                host.process.freedMemory.giveBack(at: host.clock.monotonic())
                let closes = host.database.isUnused()
                if closes { tasks.close.store(true, ordering: .relaxed) }
                let searches = tasks.searched.load(ordering: .relaxed) != host.database.writes
                if searches { tasks.search.store(true, ordering: .relaxed) }
                return closes || searches || watcher.limit != nil || !host.vault.tree.isInPlace
            }, waking: signal)
    }

    /// Compares the paths that are due.
    /// - Returns: Whether something was removed by hand.
    private func compare(_ due: [DirtyPaths.Due]) async throws -> Bool {
        guard !due.isEmpty else { return false }
        guard let found = try await host.reconcile(at: due.map(\.path)) else {
            watcher.retry(due)
            return false
        }
        let tries = Dictionary(uniqueKeysWithValues: due.map { ($0.path, $0.tries) })
        watcher.retry(found.unstable.map { DirtyPaths.Due(path: $0, tries: tries[$0] ?? 0) })
        return found.findings.contains { $0.kind == .removed }
    }

    /// Writes to the database which copies were used.
    private func writeUses() async throws {
        let now = host.clock.monotonic()
        for batch in Array(host.state.uses.with { $0.take(now: now) }).batches(of: 1_000) {
            try await host.database.write { try $0.items.noteUses(batch) }
        }
    }

    private func seeToRoot() async throws {
        let tree = host.vault.tree
        guard await !runBlocking({ tree.isInPlace }) else { return }
        throw Failure.lasting(
            .localIO, "The folder \(tree.root) with the local copies was moved, removed or unmounted",
            hint: "Put it back or mount it, and start Larder again")
    }

    /// Compares again the folders that can be read again. No event tells that a file system was unmounted or that
    /// permissions above a folder were changed.
    private func seeToUnreadable() async throws {
        let writes = host.database.writes
        guard tasks.searched.load(ordering: .relaxed) != writes else { return }
        let folders = try await host.database.readOnce { try $0.unreadableFolders() }
        tasks.searched.store(folders.isEmpty ? writes : -1, ordering: .relaxed)
        guard !folders.isEmpty else { return }
        let tree = host.vault.tree
        recheck(await runBlocking { folders.filter { tree.whyUnreadable($0) == nil } })
    }

    private func tell(_ limit: Failure?) {
        guard let limit else {
            host.logger.notice("Every folder of \(host.vault.tree.root) is watched again")
            return
        }
        host.logger.warning("\(limit)\nUntil then, Larder compares the whole tree every 5 minutes")
    }

    private func wait(atMost limit: Duration?) async throws {
        guard let limit else {
            await signal.wait()
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait() }
            group.addTask { try await host.clock.sleep(limit) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
