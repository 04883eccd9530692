import Connection
import EventScheduler
import Logging
import Model
import PluginHost
import Storage

/// Where what a turn asks for goes.
final class Committing: Sendable {
    let database: Database
    let connection: Connection
    let clock: HostClock
    let logger: Logger
    /// Which kinds of loops are there for the records of which collection, and whose they are.
    private let collections: [LoopKind: RecordCollection]
    private let plugins: [LoopKind: PluginID]
    private let callbacks: EventLoops.Callbacks
    private let change: @Sendable (_ added: [LoopKey], _ removed: [LoopKey]) async -> Void

    init(
        database: Database, connection: Connection, clock: HostClock, logger: Logger, offers: [LoopOffer: PluginID],
        callbacks: EventLoops.Callbacks,
        change: @escaping @Sendable (_ added: [LoopKey], _ removed: [LoopKey]) async -> Void
    ) {
        (self.database, self.connection, self.clock, self.logger) = (database, connection, clock, logger)
        collections = offers.keys.reduce(into: [:]) { $0[$1.kind] = $1.collection }
        plugins = offers.reduce(into: [:]) { $0[$1.key.kind] = $1.value }
        self.callbacks = callbacks
        self.change = change
    }

    /// Commits what a turn asked for together with its event id. New records that mean a loop get its row in the same transaction.
    /// On the plugin's thread.
    /// - Returns: what changed; nil: nothing, and nothing was written.
    /// - Throws: if the turn is not wanted any more, which changes nothing.
    func commit(
        _ turn: TurnServices, of key: LoopKey, _ plugin: PluginID, from: EventID?, to id: EventID, _ result: LoopResult
    ) throws -> LoopTurnChanges? {
        var changes: [RecordChange] = []
        var values: [PluginValue] = []
        var looks: [ItemPath] = []
        for asked in turn.asked {
            switch asked {
            case .record(let change): changes.append(change)
            case .value(let key, let value): values.append(PluginValue(key: key, value: value))
            case .look(let path): looks.append(path)
            }
        }
        guard from != id || !changes.isEmpty || !values.isEmpty || !looks.isEmpty else { return nil }
        let state = LoopState(key: key, plugin: plugin, eventID: id, lastPoll: clock.now(), lastResult: result)
        let commit = LoopTurnCommit(
            from: from, state: state, changes: changes, values: values, loopCollections: collections)
        guard !turn.isCancelled else { throw CancellationError() }
        let outcome = try database.writeBlocking { tx in
            let outcome = try tx.commit(commit)
            if case .committed(let changes) = outcome {
                for (key, plugin) in loops(of: changes) { try tx.enrolLoop(key, plugin: plugin) }
                for path in looks { try tx.look(at: path) }
            }
            return outcome
        }
        guard case .committed(let changes) = outcome else {
            throw EventLoopError(.processing, "the loop \(key) was changed meanwhile; its page was dropped")
        }
        if !looks.isEmpty { callbacks.look() }
        return changes
    }

    /// Starts and ends the loops of records that came and went, and tells who else wants to know.
    func follow(_ changes: LoopTurnChanges) async {
        await change(loops(of: changes).map(\.0), changes.removedLoops)
        callbacks.recordsChanged(Set(changes.records.map(\.collection)))
    }

    private func loops(of changes: LoopTurnChanges) -> [(LoopKey, PluginID)] {
        changes.records.filter { $0.event == .added }.flatMap { change in
            collections.filter { $0.value == change.collection }.keys.sorted().compactMap { kind in
                plugins[kind].map { (LoopKey(kind: kind, id: LoopID(change.key.text)), $0) }
            }
        }
    }
}
