import Database
import LocalTree
import Logging
import Model

/// One kind of action, with its five parts: early checks and preflight, schedule, what is done, what follows from its result, deschedule.
///
/// A new action is a type in a folder of its own, its case in ``SyncRecord/Action`` with a line in ``SyncRecord/Action/Kind/type``, and
/// what a migration adds for it.
protocol SyncAction: Sendable {
    /// What a record takes a place of while it is under way.
    static var budget: Window.Budget { get }

    var engine: SyncEngine { get }

    init(_ engine: SyncEngine)

    /// Early checks and preflight: what a request changes of its item, and whether it becomes a record.
    func preflight(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> EnqueueOutcome

    /// Schedule: a record as it may go on now, or waits. Called each time the journal is read.
    /// - Parameter page: Of the journal, on which it stands.
    /// - Returns: nil if it does not hold up what comes after it: it is gone, or waits out of the way.
    func schedule(
        _ record: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord?

    /// Deschedule: takes back what preflight did to an item, whose record is gone.
    func takeBack(_ record: SyncRecord, of item: Item, in tx: Transaction) throws
}

/// An action that takes a copy away. It needs no server, is done in the tree in one transaction with others, and is read ahead of what needs
/// a server.
protocol RemovalAction: SyncAction {
    /// Does it, and writes down what follows. It blocks.
    func carryOut(_ job: Job, in tx: Transaction) throws -> RecordOutcome
}

extension SyncRecord.Action.Kind {
    /// All actions.
    var type: any SyncAction.Type {
        switch self {
        case .download: DownloadAction.self
        case .removeLocalCopy: RemoveLocalCopyAction.self
        case .purge: PurgeAction.self
        }
    }
}

extension SyncEngine {
    func action(_ kind: SyncRecord.Action.Kind) -> any SyncAction { kind.type.init(self) }
}

extension RemovalAction {
    static var budget: Window.Budget { .removals }

    /// A removal that waits and that nobody wants any more does not wait on.
    func schedule(
        _ record: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord? {
        guard record.wait != nil,
            case .kept = try engine.objection(to: record.action, of: item, besides: record, in: tx)
        else { return record }
        try tx.journal.delete(id: record.id)
        return nil
    }

    /// A removal changes nothing of its item before it is done.
    func takeBack(_ record: SyncRecord, of item: Item, in tx: Transaction) throws {}
}

/// What an action works with.
extension SyncAction {
    var database: Database { engine.database }
    var tree: Tree { engine.tree }
    var clock: HostClock { engine.clock }
    var controls: Controls { engine.controls }
    var counters: Counters { engine.counters }
    var logger: Logger { engine.logger }
}
