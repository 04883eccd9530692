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
import Vault

extension AccountHost {
    /// What a start does before anything else: rows, tree and journal are brought together, and processors hear of policies that
    /// were changed while no host ran.
    /// - Returns: where the tree is to be looked at again.
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
        await writePolicyHistory()
        try await loops.enable()
        return found?.unstable ?? [.root]
    }

    /// Finds the server and lets downloads start; without it only what needs no server is done.
    /// - Parameter mode: how the scan will go that follows, if one does, by whether the server is of the ownCloud family.
    /// - Returns: also the listing of the root that it begins with, if it is known that it will list everything.
    func connect(
        toScan mode: (Bool, ScanMode.History) -> ScanMode = { _, _ in .byETags }
    ) async throws -> (facts: ServerFacts, listing: RootListing?) {
        let history = try await database.read { try $0.scanHistory() }
        let known = try await keptServer()
        do {
            // Before the first scan it may be no folder of files: of a calendar all would be listed in vain.
            let found = try await connection.connect(knowing: known) { hasStatusDocument in
                history.lastScan != nil && mode(hasStatusDocument, history) == .whole ? .one : .zero
            }
            engine.setOnline(true)
            try await setConnectionState(.online)
            // The server's clock may have told which time it is, before anything is written by this one.
            try await checkClock()
            try await noteAccepted()
            try await keepServer()
            return found
        } catch let error as ConnectionError {
            engine.setOnline(false)
            // A refusal says nothing of where things are.
            if error.kind != .authentication { try await distrustServer() }
            try await setConnectionState(error.isUnavailable ? .unavailable : .offline)
            if error.kind == .authentication || error.kind == .certificate { try await noteRefused(error.failure) }
            throw error
        }
    }

    /// Scans once and fires the trigger that a finished scan gives.
    /// - Parameters:
    ///   - root: the root, if it was asked for just now.
    ///   - listing: its listing, if that has just begun.
    ///   - waits: whether a folder that an earlier scan left is left for a later one.
    func scan(
        _ facts: ServerFacts, _ mode: ScanMode, root: ListedItem? = nil, listing: RootListing? = nil,
        waits: (ItemPath) -> Bool = { _ in false }
    ) async throws -> ItemListUpdate.Outcome {
        guard facts.hasFiles else {
            let isOwed = state.finishScan()
            policies.fire(isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges)
            return ItemListUpdate.Outcome()
        }
        var outcome = try await walk(facts, mode, root: root, listing: listing, waits: waits)
        // Whatever moved meanwhile, into a folder that had been listed by then, was not found. Before a policy goes for its absence, there
        // is another look.
        if outcome.isComplete, !outcome.isHeld, outcome.changed, try await !obsoletePolicies().isEmpty {
            let folders = outcome.folders
            outcome = try await walk(facts, try await nextMode(facts))
            outcome.changed = true
            outcome.folders += folders
        }
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

    /// How a scan goes that somebody asks for now.
    func nextMode(_ facts: ServerFacts) async throws -> ScanMode {
        let history = try await database.read { try $0.scanHistory() }
        return ScanMode.next(isOwnCloudFamily: facts.isOwnCloudFamily, history: history, now: clock.now())
    }

    private func walk(
        _ facts: ServerFacts, _ mode: ScanMode, root: ListedItem? = nil, listing: RootListing? = nil,
        waits: (ItemPath) -> Bool = { _ in false }
    ) async throws -> ItemListUpdate.Outcome {
        let etagsWereWrong = try await database.read { try $0.scanHistory().etagsWereWrong }
        return try await list.update(
            mode, root: root, listing: listing, etagsNameWrites: facts.isOwnCloudFamily && !etagsWereWrong,
            waits: waits)
    }

    /// Time has passed and no scan has finished: what needs no server is looked at. Not while a person has to say whether the server
    /// has lost what it does not list any more, for then the copies here may be all there is.
    func passTime() async throws {
        guard try await !database.read({ try $0.scan.hasMissing() }) else { return }
        try await checkClock()
        policies.fire(.timer)
    }

    /// Finds out whether what goes for its age may go.
    private func checkClock() async throws {
        let (before, after) = state.checkClock(process.options.clock, aheadOfServer: connection.takeClockAhead())
        if after.isSane != before.isSane {
            if after.isSane {
                logger.notice("The clock is trusted again")
            } else {
                logger.warning(
                    "The clock says \(process.options.clock.now()), and said \(before.last.map { "\($0.wall)" } ?? "nothing") when it was checked last: no copy expires or is vacuumed before the server's clock confirms it"
                )
            }
        }
        guard after.isSane, let now = after.last?.wall else { return }
        // Not with each look: a minute less makes no difference.
        if let recorded = before.last?.wall, before.last?.monotonic != nil, now.seconds / 60 == recorded.seconds / 60 {
            return
        }
        try await database.write { try $0.meta.set(.lastClock, now) }
    }

    /// The server is not asked any more, until ``connect(toScan:)`` finds it.
    func setOffline(_ state: ConnectionState = .offline) async throws {
        engine.setOnline(false)
        try await setConnectionState(state)
    }

    private func setConnectionState(_ state: ConnectionState) async throws {
        connection.isUnavailable = state == .unavailable
        try await database.write { tx in try tx.meta.set(.connection, state.rawValue) }
    }
}

extension ConnectionError {
    /// Whether the server says that it cannot serve now.
    var isUnavailable: Bool { kind == .maintenance || status == 503 }
}
