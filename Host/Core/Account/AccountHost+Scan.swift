import Connection
import EventLoops
import ItemPolicies
import Logging
import Model
import PluginHost
import Storage
import SyncEngine

extension AccountHost {
    /// What a start does before anything else: rows, tree and journal are brought together, and processors hear of policies that
    /// were changed while no host ran.
    /// - Returns: where the tree is to be looked at again.
    @discardableResult
    func recover() async throws -> [ItemPath] {
        try await lookAtClock()
        try await list.carryOutMoves()
        let look = try await reconcile()
        let changed = try await database.write { tx in
            guard try tx.metaInteger(.policiesChanged) == 1 else { return false }
            try tx.setMeta(.policiesChanged, .null)
            return true
        }
        if changed { policies.fire(.policiesChanged) }
        await writePolicyHistory()
        try await loops.enable()
        return look?.unsettled ?? [.root]
    }

    /// Finds the server and lets downloads start; without it only what needs no server is done.
    /// - Parameter scans: whether ``scan(_:root:listing:whole:)`` follows.
    /// - Returns: also the listing of the root that it begins with, if it is known that it will list everything.
    func connect(toScan scans: Bool = false) async throws -> (facts: ServerFacts, listing: RootListing?) {
        let history = try await database.read { try $0.scanHistory() }
        let walksFamily = ScanMode.next(isOwnCloudFamily: true, history: history, now: clock.now()) == .whole
        do {
            // Before the first scan it may be no folder of files: of a calendar all would be listed in vain.
            let found = try await connection.connect { hasStatusDocument in
                scans && history.lastScan != nil && (walksFamily || !hasStatusDocument) ? .one : .zero
            }
            engine.setOnline(true)
            try await setConnectionState(.online)
            return found
        } catch let error as ConnectionError {
            engine.setOnline(false)
            try await setConnectionState(error.kind == .maintenance ? .unavailable : .offline)
            if error.kind == .authentication || error.kind == .certificate { state.refuse() }
            throw error
        }
    }

    /// Scans once and fires the trigger that a finished scan gives.
    /// - Parameters:
    ///   - root: the root, if it was asked for just now.
    ///   - listing: its listing, if that has just begun.
    ///   - whole: every folder is listed, whatever the ETags say.
    func scan(
        _ facts: ServerFacts, root: ListedItem?, listing: RootListing? = nil, whole: Bool = false
    ) async throws -> ItemListUpdate.Outcome {
        guard facts.hasFiles else {
            let isOwed = state.finishScan()
            policies.fire(isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges)
            return ItemListUpdate.Outcome()
        }
        var outcome = try await walk(facts, root: root, listing: listing, whole: whole)
        // Whatever moved meanwhile, into a folder that had been listed by then, was not found. Before a policy goes for its absence, there
        // is another look.
        if outcome.isComplete, !outcome.isHeld, outcome.changed, try await !obsoletePolicies().isEmpty {
            let folders = outcome.folders
            outcome = try await walk(facts, whole: whole)
            outcome.changed = true
            outcome.folders += folders
        }
        guard outcome.isComplete, !outcome.isHeld else {
            if outcome.changed { state.oweTrigger() }
            return outcome
        }
        try await lookAtClock()
        let isOwed = state.finishScan()
        let trigger: Trigger =
            outcome.changed || isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges
        try await removeObsoletePolicies(after: trigger)
        policies.fire(trigger)
        return outcome
    }

    private func walk(
        _ facts: ServerFacts, root: ListedItem? = nil, listing: RootListing? = nil, whole: Bool
    ) async throws -> ItemListUpdate.Outcome {
        let history = try await database.read { try $0.scanHistory() }
        let mode =
            whole
            ? .whole : ScanMode.next(isOwnCloudFamily: facts.isOwnCloudFamily, history: history, now: clock.now())
        return try await list.update(
            mode, root: root, listing: listing, etagsNameWrites: facts.isOwnCloudFamily && !history.etagsWereWrong)
    }

    /// Time has passed and no scan has finished: what needs no server is looked at. Not while a person has to say whether the server
    /// has lost what it does not list any more, for then the copies here may be all there is.
    func passTime() async throws {
        guard try await !database.read({ try $0.hasMissing() }) else { return }
        try await lookAtClock()
        policies.fire(.timer)
    }

    /// Finds out whether what goes for its age may go.
    private func lookAtClock() async throws {
        let (before, after) = state.look(at: clock, aheadOfServer: connection.takeClockAhead())
        if after.isSane != before.isSane {
            if after.isSane {
                logger.notice("The clock is believed again")
            } else {
                logger.warning(
                    "The clock says \(clock.now()), and said \(before.last.map { "\($0.wall)" } ?? "nothing") when it was looked at last: no copy expires or is vacuumed before the server's clock confirms it"
                )
            }
        }
        guard after.isSane, let now = after.last?.wall else { return }
        // Not with each look: a minute less makes no difference.
        if let recorded = before.last?.wall, before.last?.monotonic != nil, now.seconds / 60 == recorded.seconds / 60 {
            return
        }
        try await database.write { try $0.setMeta(.lastClock, .integer(now.nanoseconds)) }
    }

    /// The server is not asked any more, until ``connect(toScan:)`` finds it.
    func setOffline() async throws {
        engine.setOnline(false)
        try await setConnectionState(.offline)
    }

    private func setConnectionState(_ state: ConnectionState) async throws {
        try await database.write { tx in try tx.setMeta(.connection, .text(state.rawValue)) }
    }
}
