import Connection
import Database
import EventLoops
import ItemList
import ItemPolicies
import LocalTree
import Logging
import Model
import PluginHost
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Does what a start does before anything else: brings rows, tree and journal into agreement, and tells processors
    /// of policies that were changed while no host ran.
    /// - Returns: The paths in the tree that are to be compared again.
    @discardableResult
    func recover() async throws -> [ItemPath] {
        try await checkClock()
        try await list.carryOutMoves()
        let found = try await reconcile()
        let changed = try await database.write { tx in
            guard try tx.meta.integer(.policiesChanged) == 1 else { return false }
            try tx.meta.clear(.policiesChanged)
            return true
        }
        if changed { policies.fire(.policiesChanged) }
        try await pruneTombstones()
        await writePolicyHistory()
        try await loops.enable()
        return found?.unstable ?? [.root]
    }

    private func pruneTombstones() async throws {
        let now = clock.agesTo()
        try await database.write { try $0.tombstones.prune(now: now) }
    }

    /// Finds the server and lets downloads start. If the server cannot be reached, only work that needs no server is
    /// done.
    /// - Parameter mode: Returns the mode of the scan that follows, if one does, given whether the server is of the
    ///   ownCloud family.
    /// - Returns: The facts about the server, and the listing of the root with which the scan begins if the scan is
    ///   known to list everything.
    /// - Throws: `ConnectionError` if the server cannot be reached or rejects the account, and the database's errors.
    func connect(
        toScan mode: (Bool, ScanMode.History) -> ScanMode = { _, _ in .byETags }
    ) async throws -> (facts: ServerFacts, listing: BegunListing?) {
        let history = try await database.read { try $0.scanHistory() }
        let known = try await keptServer()
        let moment = list.finishedChanges.begin()
        do {
            // Before the first scan the root may turn out to be no folder of files; listing everything would be wasted
            // on a calendar.
            let found = try await connection.connect(knowing: known) { hasStatusDocument in
                history.lastScan != nil && mode(hasStatusDocument, history) == .whole ? .one : .zero
            }
            tell { $0.found(found.facts) }
            state.favorites.change { $0.connected() }
            try await noteSession()
            // The server's clock may have told the right time; this check uses it before anything is written with this
            // machine's time.
            try await checkClock()
            try await noteAccepted()
            try await keepServer()
            return (found.facts, found.listing.map { BegunListing($0, moment) })
        } catch let error as ConnectionError {
            // What is sent in the moment in which a pause begins fails because of the pause.
            guard !session.isToStop else { throw error }
            let isNews = tell { $0.failed(error) }
            // A rejected secret says nothing about locations on the server.
            if error.kind != .authentication { try await distrustServer() }
            try await noteSession(because: error.message)
            switch error.kind {
            case .authentication, .certificate: try await noteRefused(error.failure)
            case .unapproved: try await noteUnapproved(error, isNews: isNews)
            default: break
            }
            throw error
        }
    }

    /// Scans once, and fires the trigger of a finished scan if the scan finished.
    /// - Parameters:
    ///   - facts: The facts about the server.
    ///   - mode: The mode of the scan.
    ///   - root: The root, if it was requested just now.
    ///   - listing: The root's listing, if it has just begun.
    ///   - waits: Returns whether a folder that an earlier scan left is left for a later scan once more.
    /// - Returns: The outcome of the scan.
    func scan(
        _ facts: ServerFacts, _ mode: ScanMode, root: ListedItem? = nil, listing: BegunListing? = nil,
        waits: (ItemPath) -> Bool = { _ in false }
    ) async throws -> ItemListUpdate.Outcome {
        defer { queries.serverChanged() }
        guard facts.hasFiles else {
            list.refreshes.noteDone(list.refreshes.awaited)
            let isOwed = state.finishScan()
            policies.fire(isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges)
            return ItemListUpdate.Outcome()
        }
        var outcome = try await walk(facts, mode, root: root, listing: listing, waits: waits)
        // The scan did not find an item that moved, while the scan ran, into a folder that was already listed. A second
        // scan confirms the absence of the item before a policy is removed because of it.
        if outcome.isComplete, !outcome.isHeld, outcome.changed, try await !obsoletePolicies().isEmpty {
            let folders = outcome.folders
            outcome = try await walk(facts, try await nextMode(facts))
            outcome.changed = true
            outcome.folders += folders
        }
        if facts.isOwnCloudFamily, !outcome.isCutOff, try await updateFavorites() { outcome.changed = true }
        // Also where one folder can never be listed.
        try await pruneTombstones()
        guard outcome.isComplete, !outcome.isHeld else {
            if outcome.changed { state.oweTrigger() }
            return outcome
        }
        try await compareRestored()
        try await checkClock()
        let isOwed = state.finishScan()
        let trigger: Trigger =
            outcome.changed || isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges
        try await removeObsoletePolicies(after: trigger)
        policies.fire(trigger)
        return outcome
    }

    /// Asks the server for the account's favorites, if it is time to. Favorites change no ETag. Logs errors, since the
    /// next scan asks again.
    /// - Returns: Whether an item was marked, or is no longer.
    private func updateFavorites() async throws -> Bool {
        let policies = try await database.read { try $0.policies.all() }
        // Few conditions have the word, and each scan comes here.
        let depends = policies.contains { policy in
            guard policy.condition.contains("favorite") else { return false }
            do { return try Condition(parsing: policy.condition).names(.favorite) } catch { return false }
        }
        guard state.favorites.change({ $0.isDue(policiesDepend: depends, at: clock.monotonic()) }) else { return false }
        do {
            let outcome = try await list.updateFavorites()
            state.favorites.change { $0.asked(outcome, at: clock.monotonic()) }
            return outcome == .updated(changed: true)
        } catch let error as ConnectionError {
            logger.debug("Favorites were not updated: \(error.message)")
            return false
        }
    }

    /// Returns the mode of a scan that is requested now.
    func nextMode(_ facts: ServerFacts) async throws -> ScanMode {
        let history = try await database.read { try $0.scanHistory() }
        return ScanMode.next(isOwnCloudFamily: facts.isOwnCloudFamily, history: history, now: clock.now())
    }

    private func walk(
        _ facts: ServerFacts, _ mode: ScanMode, root: ListedItem? = nil, listing: BegunListing? = nil,
        waits: (ItemPath) -> Bool = { _ in false }
    ) async throws -> ItemListUpdate.Outcome {
        try await list.update(
            mode, root: root, listing: listing, isFamily: facts.isOwnCloudFamily, waits: waits)
    }

    /// Fires the timer trigger, for time that has passed without a finished scan, so that processors check the items
    /// that need no server. Does nothing while a person has to decide whether the server has lost the items that it no
    /// longer lists, because the local copies may then be the only ones.
    func passTime() async throws {
        guard try await !database.read({ try $0.scan.hasMissing() }) else { return }
        try await checkClock()
        policies.fire(.timer)
    }

    /// Decides whether anything may be removed for its age.
    func checkClock() async throws {
        let (before, after) = state.checkClock(process.options.clock, aheadOfServer: connection.takeClockAhead())
        if after.isSane != before.isSane {
            if after.isSane {
                logger.notice("The system clock is trusted again")
            } else {
                let shown = before.last.map { "\($0.wall)" } ?? "nothing"
                let text =
                    "The system clock shows \(process.options.clock.now()), and showed \(shown) at the last check: "
                    + "no copy expires or is vacuumed until the server's clock confirms the time"
                logger.warning("\(text)")
            }
        }
        guard after.isSane, let now = after.last?.wall else { return }
        // The time is not recorded at each check: a difference below a minute does not matter.
        if let recorded = before.last?.wall, before.last?.monotonic != nil, now.seconds / 60 == recorded.seconds / 60 {
            return
        }
        try await database.write { tx in
            try tx.meta.set(.lastClock, now)
            try tx.meta.clear(.clockPassed)
        }
    }
}

extension ConnectionError {
    /// Whether the server says that it cannot serve requests now.
    var isUnavailable: Bool { kind == .maintenance || status == 503 }

    /// Whether the server, or a proxy for it, has answered that it cannot serve the request now.
    var isAnswer: Bool { isUnavailable || kind == .serverError }
}
