import Connection
import Database
import EventScheduler
import Logging
import Model
import PluginHost
import Synchronization

/// The part that commits the requests of loops' turns.
final class Committing: Sendable {
    let database: Database
    let connection: Connection
    let clock: HostClock
    let logger: Logger
    /// The collection whose records each mean a loop of the kind.
    private let collections: [LoopKind: RecordCollection]
    /// The plugin of the loops of the kind.
    private let plugins: [LoopKind: PluginID]
    private let calendarGuard: CalendarGuard
    /// The loops with held removals.
    private let held = Mutex<Set<LoopKey>>([])
    private let callbacks: EventLoops.Callbacks
    private let loopPlugins: [LoopKind: LoopPlugin]
    private let reports: LoopReports

    init(
        database: Database, connection: Connection, clock: HostClock, logger: Logger,
        loopPlugins: [LoopKind: LoopPlugin],
        reports: LoopReports, removalGuard: RemovalGuard?, callbacks: EventLoops.Callbacks
    ) {
        (self.database, self.connection, self.clock, self.logger) = (database, connection, clock, logger)
        (self.loopPlugins, self.reports) = (loopPlugins, reports)
        collections = loopPlugins.compactMapValues(\.offer.collection)
        plugins = loopPlugins.mapValues(\.plugin)
        calendarGuard = CalendarGuard(removalGuard: removalGuard)
        self.callbacks = callbacks
    }

    /// Sets the loops with held removals.
    func setHeld(_ loops: Set<LoopKey>) { held.withLock { $0 = loops } }

    /// Commits a turn's requests together with its event id. A new record that means a loop gets the loop's row in the
    /// same transaction. Runs on the plugin's thread.
    /// - Returns: The changes; nil if nothing changed, in which case nothing was written.
    /// - Throws: An error if the turn is not wanted any more, or if the turn removes so much from calendars that a
    ///   person must confirm the removals. Nothing changes in either case.
    func commit(
        _ turn: TurnServices, of key: LoopKey, _ plugin: PluginID, from: EventID?, to id: EventID, _ result: LoopResult
    ) throws -> LoopTurnChanges? {
        var changes: [RecordChange] = []
        var values: [PluginValue] = []
        var paths: [ItemPath] = []
        for asked in turn.asked {
            switch asked {
            case .record(let change): changes.append(change)
            case .value(let key, let value): values.append(PluginValue(key: key, value: value))
            case .requestListing(let path): paths.append(path)
            }
        }
        let isHeld = held.withLock { $0.contains(key) }
        guard from != id || !changes.isEmpty || !values.isEmpty || !paths.isEmpty || isHeld else { return nil }
        let time = clock.now()
        let state = LoopState(key: key, plugin: plugin, eventID: id, lastPoll: time, lastResult: result)
        let commit = LoopTurnCommit(
            from: from, state: state, changes: changes, values: values, loopCollections: collections)
        guard !turn.isCancelled else { throw CancellationError() }
        let (outcome, failure): (LoopTurnOutcome, Failure?) = try database.writeBlocking { tx in
            let removals = try tx.calendarRemovals(changes)
            if try tx.loops.eventID(of: key) == from, let reason = try calendarGuard.reason(to: removals, tx, at: time)
            {
                return (.superseded, try tx.hold(removals, for: key, because: reason, at: time))
            }
            let outcome = try tx.loops.commit(commit)
            if case .committed(let changes) = outcome {
                for (key, plugin) in loops(of: changes) { try tx.loops.enrol(key, plugin: plugin) }
                for path in paths { try tx.scan.requestListing(of: path) }
                for key in changes.removedLoops { try tx.forgetIssues(of: key) }
                try tx.note(removals, at: time)
                // Removals come with the last page, so the hold ends only then.
                if isHeld, result != .more { try tx.records.endHold(of: key.description) }
            }
            return (outcome, nil)
        }
        if let failure {
            held.withLock { _ = $0.insert(key) }
            throw EventLoopError(.processing, failure.message, cause: failure)
        }
        guard case .committed(let changes) = outcome else {
            throw EventLoopError(.processing, "the loop \(key) was changed meanwhile; its page was dropped")
        }
        if isHeld, result != .more { held.withLock { _ = $0.remove(key) } }
        if !paths.isEmpty { callbacks.requestScan() }
        return changes
    }

    /// Removes the held records, for a person.
    func removeHeld(of issue: Issue, telling delegate: any LoopDelegate) async throws {
        let collections = collections
        let changes = try await database.write { tx in
            let held = try tx.records.held(of: issue.subject).map { RecordChange.remove($0.key, from: $0.collection) }
            let changes = try tx.loops.apply(held, loopCollections: collections)
            for key in changes.removedLoops { try tx.forgetIssues(of: key) }
            try tx.records.endHold(of: issue.subject)
            return changes
        }
        held.withLock { $0 = $0.filter { $0.description != issue.subject } }
        await follow(changes, telling: delegate)
    }

    /// Starts the loops of added records, ends the loops of removed records, and reports the changed collections.
    func follow(_ changes: LoopTurnChanges, telling delegate: any LoopDelegate) async {
        for key in changes.removedLoops {
            reports.forget(key)
            await delegate.disableSpecialLoop(key)
        }
        for (key, _) in loops(of: changes) where await loopPlugins[key.kind]?.wake() ?? false {
            await delegate.enableSpecialLoop(key)
        }
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
