import Database
import Model

/// One kind of action, with its five parts: early checks and preflight, schedule, execution, result handling and
/// deschedule.
///
/// Each type has a `preflight` of its own, which gets what a request has for it: see ``SyncEngine/enqueue(_:in:)``. It
/// decides how the request changes its item, and whether the request becomes a record.
///
/// A new action is a type in a folder of its own, its case in ``SyncRecord/Action`` with a line in
/// ``SyncRecord/Action/Kind/type``, and the additions of a migration.
protocol SyncAction: EnginePart {
    /// The budget of which a record takes a place while the record is under way.
    static var budget: Window.Budget { get }

    init(_ context: ActionContext)

    /// Schedules a record: decides whether the record may go on now or waits. Called each time the journal is read.
    /// - Parameter page: The page of the journal on which the record stands.
    /// - Returns: The record as it may go on now or waits. Nil if the record does not hold up the records behind it,
    ///   because it is gone or waits without blocking its lane.
    func schedule(
        _ record: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord?

    /// Deschedules a record: takes back what preflight did to the item of a record that is gone.
    func takeBack(_ record: SyncRecord, of item: Item, in tx: Transaction) throws
}

/// An action that removes a copy. Such an action needs no server, is carried out in the tree in one transaction with
/// others, and is read ahead of the actions that need a server.
protocol RemovalAction: SyncAction {
    /// Carries the removal out and records the result. The function blocks.
    func carryOut(_ job: Job, in tx: Transaction) throws -> RecordOutcome
}

/// The type of an action, by what carries it out.
enum ActionType {
    case download
    case removal(any RemovalAction.Type)
    case change(any ChangeAction.Type)
}

extension SyncRecord.Action.Kind {
    var type: ActionType {
        switch self {
        case .download: .download
        case .removeLocalCopy: .removal(RemoveLocalCopyAction.self)
        case .purge: .removal(PurgeAction.self)
        case .createFolder: .change(CreateFolderAction.self)
        case .delete: .change(DeleteAction.self)
        case .move: .change(MoveAction.self)
        case .copy: .change(CopyAction.self)
        case .setFavorite: .change(SetFavoriteAction.self)
        case .setModificationTime: .change(SetModificationTimeAction.self)
        case .upload: .change(UploadAction.self)
        }
    }

    /// The budget of which a record takes a place while the record is under way.
    var budget: Window.Budget {
        switch type {
        case .download: DownloadAction.budget
        case .removal(let type): type.budget
        case .change(let type): type.budget
        }
    }
}

extension RemovalAction {
    static var budget: Window.Budget { .removals }

    /// Ends a removal that waits and that nobody wants any more.
    func schedule(
        _ record: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord? {
        guard record.wait != nil,
            case .kept = try context.copies.objection(to: record.action, of: item, besides: record, in: tx)
        else { return record }
        try tx.journal.delete(id: record.id)
        return nil
    }

    /// Does nothing: a removal changes nothing of its item before it is done.
    func takeBack(_ record: SyncRecord, of item: Item, in tx: Transaction) throws {}
}
