import Connection
import ItemPolicies
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
        try await list.carryOutMoves()
        let look = try await reconcile()
        let changed = try await database.write { tx in
            guard try tx.metaInteger(.policiesChanged) == 1 else { return false }
            try tx.setMeta(.policiesChanged, .null)
            return true
        }
        if changed { policies.fire(.policiesChanged) }
        return look?.unsettled ?? [.root]
    }

    /// Finds the server and lets downloads start; without it only what needs no server is done.
    func connect() async throws -> ServerFacts {
        do {
            let facts = try await connection.connect()
            engine.setOnline(true)
            // What the journal holds from before can be fetched while folders are listed.
            state.newRecords.ring()
            try await setConnectionState(.online)
            return facts
        } catch let error as ConnectionError {
            engine.setOnline(false)
            try await setConnectionState(error.kind == .maintenance ? .unavailable : .offline)
            if error.kind == .authentication || error.kind == .certificate { state.refuse() }
            throw error
        }
    }

    /// Scans once and fires the trigger that a finished scan gives.
    /// - Parameter whole: every folder is listed, whatever the ETags say.
    func scan(_ facts: ServerFacts, root: ListedItem?, whole: Bool = false) async throws -> ItemListUpdate.Outcome {
        guard facts.hasFiles else {
            let isOwed = state.finishScan()
            policies.fire(isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges)
            return ItemListUpdate.Outcome()
        }
        let history = try await database.read { try $0.scanHistory() }
        let mode =
            whole
            ? .whole : ScanMode.next(isOwnCloudFamily: facts.isOwnCloudFamily, history: history, now: clock.now())
        let outcome = try await list.update(
            mode, root: root, etagsNameWrites: facts.isOwnCloudFamily && !history.etagsWereWrong)
        guard outcome.isComplete, !outcome.isHeld else {
            if outcome.changed { state.oweTrigger() }
            return outcome
        }
        let isOwed = state.finishScan()
        let trigger: Trigger =
            outcome.changed || isOwed ? .itemListUpdateCompleted : .itemListUpdateCompletedWithoutChanges
        try await removeObsoletePolicies(after: trigger)
        policies.fire(trigger)
        return outcome
    }

    private func setConnectionState(_ state: ConnectionState) async throws {
        try await database.write { tx in try tx.setMeta(.connection, .text(state.rawValue)) }
    }
}
