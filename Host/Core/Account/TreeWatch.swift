import Database
import ItemPolicies
import LocalTree
import Logging
import Model
import PluginHost
import SyncEngine
import Threads
import Vault

/// Notices what persons and programs do in the tree while an account is at work, and brings the rows together with it.
struct TreeWatch: Sendable {
    private let host: AccountHost
    private let watcher: TreeWatcher
    private let signal: Signal

    /// How often is seen to it that the tree's root is still where it was.
    static let rootCheck = Duration.seconds(30)
    /// How often everything is compared where not every folder can be watched.
    static let scanInterval = Duration.seconds(300)
    /// A pinned copy that is removed by hand comes again, but not without end where some program removes it each time: so often
    /// at most what is done by hand lets processors ask anew for what they have asked for too often.
    private static let forgiving = Duration.seconds(3600)

    /// Begins to watch. Whoever calls this calls ``end()`` at last.
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

    /// These are to be compared soon.
    func recheck(_ paths: [ItemPath]) { watcher.retry(paths.map { DirtyPaths.Due(path: $0) }) }

    /// Compares what changes, as it changes, until the task is cancelled.
    /// - Throws: `.localIO` when the tree's root is not where it was: what is missing then was not removed by anybody.
    func run() async throws {
        var limit: Failure?
        var hasToldOfUses = false
        var scansAt = Duration.zero
        var forgivesAt = Duration.zero
        var checksRootAt = Duration.zero
        while true {
            try Task.checkCancellation()
            try await seeToRoot()
            if host.clock.monotonic() >= checksRootAt {
                try await seeToUnreadable()
                checksRootAt = host.clock.monotonic() + Self.rootCheck
            }
            if watcher.limit != nil, limit != nil, host.clock.monotonic() >= scansAt {
                // The limit may be another by now.
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
                    "The system watches no more folders: only its access time shows that a copy was opened or read")
                hasToldOfUses = true
            }
            try await writeUses()
            if try await compare(watcher.take()), host.clock.monotonic() >= forgivesAt {
                host.policies.changedFromOutside()
                forgivesAt = host.clock.monotonic() + Self.forgiving
            }
            try await wait(atMost: min(watcher.next() ?? Self.rootCheck, Self.rootCheck))
        }
    }

    /// - Returns: whether something was removed by hand.
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

    /// Writes down which copies were used.
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

    /// Nothing tells that a file system was unmounted, or rights were changed above.
    private func seeToUnreadable() async throws {
        let folders = try await host.database.read { try $0.unreadableFolders() }
        guard !folders.isEmpty else { return }
        let tree = host.vault.tree
        recheck(await runBlocking { folders.filter { tree.whyUnreadable($0) == nil } })
    }

    private func tell(_ limit: Failure?) {
        guard let limit else {
            host.logger.notice("Every folder of \(host.vault.tree.root) is watched again")
            return
        }
        host.logger.warning("\(limit)\nUntil then everything is compared every 5 minutes")
    }

    private func wait(atMost limit: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait() }
            group.addTask { try await host.clock.sleep(limit) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
