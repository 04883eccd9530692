import Connection
import Database
import LocalTree
import Model

/// An action that changes something on the server. Such actions are carried out one by one, each with a place of its
/// budget, except for uploads of small files: see ``ChangeRun`` and ``BatchUpload``.
protocol ChangeAction: SyncAction {
    /// What the server has made.
    associatedtype Effect: Sendable

    /// The activity that the item shows until the action is done.
    static var activity: SyncActivity { get }

    /// Asks the server for the change.
    /// - Parameter mayHaveArrived: Whether an earlier request for the record may have reached the server. If so, the
    ///   action first finds out whether the change was made.
    /// - Throws: `ConnectionError` if the server does not decide about the request; `Failure` of the database or disk.
    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<Effect>

    /// Finds out what the server has made of a change that was cancelled after a request for it may have reached the
    /// server. Nothing is asked for again.
    /// - Throws: As ``request(_:mayHaveArrived:)``.
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect<Effect>

    /// Records that the server has made the change.
    /// - Returns: What is left to do for the record.
    func conclude(_ job: Job, made effect: Effect) async throws -> ChangeOutcome

    /// Does with a change that met another version what the account's rules say.
    /// - Parameter isSure: Whether nothing of the change can have arrived.
    /// - Returns: The outcome; nil if a person must decide.
    func answerConflict(_ job: Job, _ record: SyncRecord, isSure: Bool, in tx: Transaction) throws -> RecordOutcome?
}

extension ChangeAction {
    static var budget: Window.Budget { .changes }

    /// Leaves a conflict to a person.
    func answerConflict(
        _ job: Job, _ record: SyncRecord, isSure: Bool, in tx: Transaction
    ) throws -> RecordOutcome? { nil }

    /// Lets a record go on whose item is known.
    func schedule(
        _ record: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord? { record }

    var server: any ChangeServer { context.server }

    /// Returns the record's item.
    func item(of record: SyncRecord, in tx: Transaction) throws -> Item {
        guard let item = try tx.items.item(localID: record.localID) else {
            throw Failure(.internal, "The record \(record.id) is about an item that is not known")
        }
        return item
    }

    /// Writes what the server says of an item after a change. What the answer does not tell stays as it was: the folder
    /// is listed afterwards.
    /// - Returns: The item as it is now.
    func confirm(_ item: Item, as made: ListedItem, in tx: Transaction) throws -> Item {
        var made = made
        (made.owner, made.permissions) = (made.owner ?? item.owner, made.permissions ?? item.permissions)
        (made.mimeType, made.isFavorite) = (made.mimeType ?? item.mimeType, made.isFavorite || item.isFavorite)
        return try tx.items.confirm(item, as: made, ending: Self.activity)
    }

    /// Returns the properties of an item that other records than this one are about to change.
    func pendingProperties(
        of item: Item, besides record: SyncRecord, in tx: Transaction
    ) throws -> Set<PendingPlace.Change> {
        let others = try tx.journal.records(of: item.localID).filter { $0.id != record.id }
        return Set(others.flatMap(\.places).map(\.change).filter(\.isOfProperty))
    }

    /// Asks the server about what a change has made. A failure to do so does not mean that the change was not made, and
    /// is no answer to the change.
    func afterChange<T>(_ ask: () async throws -> T) async throws -> T {
        do { return try await ask() } catch let error as ConnectionError {
            throw FailedQuestion(error: error, followsRequest: true)
        }
    }

    /// Asks the server about what an earlier request has made, as ``afterChange(_:)``.
    func afterEarlierChange<T>(_ ask: () async throws -> T) async throws -> T {
        do { return try await ask() } catch let error as ConnectionError {
            throw FailedQuestion(error: error, followsRequest: false)
        }
    }

    /// Returns the result for a request that the server has refused.
    func result(
        _ refusal: WriteRefusal, of request: WriteRequest, asking code: IssueCode = .change
    ) -> ChangeResult<Effect> {
        let failure = refusal.failure(of: request)
        return switch refusal.meaning {
        // The lock of a program that edits the file, and a full quota, end without a person's answer here.
        case .locked: .unmade(.waits(failure, ChangeDelay.locked))
        case .noRoom: .unmade(.waits(failure, nil))
        default: .refused(failure, code)
        }
    }
}
