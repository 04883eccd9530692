import Connection
import Database
import LocalTree
import Logging
import Model

/// An action that changes something on the server. Such actions are carried out one by one, each with a place of its
/// budget, except for uploads of small files: see ``BatchUpload``.
protocol ChangeAction: SyncAction {
    /// The activity that the item shows until the action is done.
    static var activity: SyncActivity { get }

    /// Asks the server for the change.
    /// - Parameter mayHaveArrived: Whether an earlier request for the record may have reached the server. If so, the
    ///   action first finds out whether the change was made.
    /// - Throws: `ConnectionError` if the server does not decide about the request; `Failure` of the database or disk.
    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult

    /// Finds out what the server has made of a change that was cancelled after a request for it may have reached the
    /// server. Nothing is asked for again.
    /// - Throws: As ``request(_:mayHaveArrived:)``.
    func effectOfCancelled(_ job: Job) async throws -> CancelledEffect

    /// Records that the server has made the change. The record is still in the journal.
    /// - Parameter made: What the server has at the record's path now, if the action asked for it.
    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws
}

/// The result of a request for a change.
enum ChangeResult: Sendable {
    /// The server has made the change. The item is what it has now, if the action asked for it.
    case done(ListedItem? = nil, copy: CopyChange? = nil)
    /// The server has taken an upload, and holds what was sent, as this file.
    /// - Parameter hasReplaced: Whether something that nobody here has seen was in the place of a new file.
    case uploaded(ListedItem, hasReplaced: Bool = false)
    /// The server does not make the change. A person decides what follows.
    /// - Parameter seen: A digest of what the server had then, for an answer that is about that alone.
    case refused(Failure, IssueCode, seen: String? = nil)
    /// The server has another version than an upload follows.
    /// - Parameters:
    ///   - found: The version; nil if nothing is there.
    ///   - isSure: Whether no request of the record can have arrived.
    case conflict(Failure, found: ETag?, isSure: Bool)
    /// The server does not show whether the change was made. It is checked again after a while, and a person is asked
    /// if nothing changes for long.
    /// - Parameters:
    ///   - seen: A digest of what was seen.
    ///   - wasTaken: Whether the server has answered that it has done all.
    case uncertain(Failure, IssueCode, seen: String, wasTaken: Bool = false)
    /// The server does not make the change now. It is asked again after a while: nil for one that grows each time.
    case waits(Failure, Duration?)
}

/// A change of what is known of an item's copy, because of a change on the server.
struct CopyChange: Sendable {
    var before: LocalCopy
    var after: LocalCopy

    /// Writes the change, unless the item has another copy by now. A mark that was renewed meanwhile stays.
    func apply(to id: LocalID, in tx: Transaction) throws {
        guard var item = try tx.items.item(localID: id), var copy = item.copy, copy.etag == before.etag,
            copy.digest == before.digest
        else { return }
        copy.etag = after.etag
        if copy.mark == before.mark { copy.mark = after.mark }
        item.copy = copy
        try tx.items.updateLocal(item)
    }
}

/// A question about what a change has made that the server did not answer.
struct FailedQuestion: Error {
    var error: ConnectionError
    /// Whether a request for the change was sent just before.
    var followsRequest: Bool
}

/// The outcome of a change that was started.
enum ChangeOutcome: Sendable {
    case resolved(RecordOutcome)
    /// The server has taken an upload, whose snapshot is to be put in place like a download.
    case uploaded(Fetched)
    /// The server has taken an upload, whose snapshot is to be put in place like a download of a batch.
    case uploadedTogether(BatchArrival)
    /// The server did not decide about the request.
    case failed(FetchFailure)
}

extension ChangeAction {
    static var budget: Window.Budget { .changes }

    /// Lets a record go on whose item is known.
    func schedule(
        _ record: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord? { record }

    var server: any ChangeServer { engine.server }

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

    /// Returns the result for what the server said.
    /// - Throws: The error for an answer that does not tell whether the server did it.
    func result(_ outcome: WriteOutcome, of request: WriteRequest) throws(ConnectionError) -> ChangeResult {
        switch outcome {
        case .done: return .done()
        case .refused(let refusal): return result(refusal, of: request)
        case .unclear(let error): throw error
        }
    }

    /// Returns the result for a request that the server has refused.
    func result(_ refusal: WriteRefusal, of request: WriteRequest, asking code: IssueCode = .change) -> ChangeResult {
        let failure = refusal.failure(of: request)
        return switch refusal.meaning {
        // The lock of a program that edits the file, and a full quota, end without a person's answer here.
        case .locked: .waits(failure, SyncEngine.lockedDelay)
        case .noRoom: .waits(failure, nil)
        default: .refused(failure, code)
        }
    }
}

extension SyncEngine {
    /// The time after which a change of something that is locked is tried again.
    static let lockedDelay = Duration.seconds(60)

    /// Carries out a change: asks the server, and records the result.
    func change(_ job: Job) async throws -> ChangeOutcome {
        guard let record = try await database.writeTogether({ [self] tx in try begin(job, in: tx) }) else {
            return .resolved(RecordOutcome(record: job.id, resolution: .stale))
        }
        var job = job
        job.record = record
        return try await goOn(job, after: nil)
    }

    /// Carries out a change whose record is marked as sent.
    /// - Parameters:
    ///   - job: The change, with its record as it was before.
    ///   - first: The answer to the first request, which was sent with a batch; nil if none was.
    func goOn(_ job: Job, after first: FirstAnswer?) async throws -> ChangeOutcome {
        let kind = job.record.action.kind
        let found = first == nil ? action(kind) as? any ChangeAction : UploadAction(self, after: first)
        guard let action = found else { throw Failure(.internal, "\(kind.rawValue) changes nothing on the server") }
        let result: Result<ChangeResult, any Error>
        do {
            switch try await ask(action, for: job) {
            case .answered(let answer): result = .success(answer)
            case .cancelled(let outcome):
                await removeSpentSnapshots()
                return .resolved(outcome)
            }
        } catch {
            result = .failure(error)
        }
        return try await conclude(job, result, by: action)
    }

    /// Records what a change has come to.
    /// - Parameters:
    ///   - job: The change, with its record as it was before it was marked as sent.
    ///   - result: The result, or what the request has thrown.
    func conclude(
        _ job: Job, _ result: Result<ChangeResult, any Error>, by action: any ChangeAction
    ) async throws -> ChangeOutcome {
        let answer: ChangeResult
        do { answer = try result.get() } catch let failure as Failure where failure.kind == .localIO {
            return .failed(.disk(failure))
        } catch let error as Failure where error.kind == .internal {
            throw error
        } catch {
            let question = error as? FailedQuestion
            let mayHaveArrived = question?.followsRequest ?? (error as? ConnectionError)?.mayHaveArrived ?? true
            if !mayHaveArrived, !job.record.mayHaveArrived { try await unsend(job.id) }
            if let question { return .failed(FetchFailure(question)) }
            return .failed(FetchFailure(error, received: nil, gained: false))
        }
        // A listing that began before the change still shows the state before.
        callbacks.changed(job.record.changedPlaces)
        if case .uploaded(let item, let hasReplaced) = answer, case .upload(let upload) = job.record.action {
            let made = UploadAction.Made(job: job, upload: upload, item: item, hasReplaced: hasReplaced)
            let outcomes = try await UploadAction(self).conclude([made])
            await removeSpentSnapshots()
            return outcomes[0]
        }
        let outcome = try await conclude(job, answer, by: action)
        if case .done = answer { counters.change { $0.changes += 1 } }
        // A rule may have given up the upload of a snapshot.
        await removeSpentSnapshots()
        return .resolved(outcome)
    }

    /// Marks a record as sent, before its first request.
    /// - Returns: The record as it was before; nil if it must not be started.
    func begin(_ job: Job, in tx: Transaction) throws -> SyncRecord? {
        guard let record = try tx.journal.record(id: job.id), record.wait == nil,
            controls.with({ !$0.suspended.contains(job.id) })
        else { return nil }
        if record.state != .processing || !record.mayHaveArrived { try tx.journal.markSent(record.id) }
        return record
    }

    /// Marks the records of uploads as sent, before their first requests.
    /// - Returns: The records as they were before, in the order of the jobs; nil for one that must not be started.
    func begin(_ uploads: [Job], in tx: Transaction) throws -> [SyncRecord?] {
        let suspended = controls.with { [ids = uploads.map(\.id)] state in ids.filter(state.suspended.contains) }
        let marked = try tx.journal.markSent(uploads.map(\.id).filter { !suspended.contains($0) })
        return uploads.map { marked[$0.id] }
    }

    /// Records that no request for a record has reached the server.
    private func unsend(_ record: SyncRecordID) async throws {
        try await database.writeTogether { tx in
            guard var record = try tx.journal.record(id: record) else { return }
            record.mayHaveArrived = false
            record.evidence.noteDecided()
            try tx.journal.update(record)
        }
    }

    private func conclude(
        _ job: Job, _ result: ChangeResult, by action: any ChangeAction
    ) async throws -> RecordOutcome {
        try await database.writeTogether { [self] tx in
            guard var record = try tx.journal.record(id: job.id) else {
                return RecordOutcome(record: job.id, resolution: .ended)
            }
            if case .uncertain(let failure, let code, let seen, let wasTaken) = result {
                return try checkAgain(job, record, failure, code, seen: seen, wasTaken: wasTaken, in: tx)
            }
            if record.mayHaveArrived {
                // The server has decided.
                record.mayHaveArrived = false
                record.evidence.noteDecided()
                try tx.journal.update(record)
            }
            switch result {
            case .uploaded, .uncertain:
                throw Failure(.internal, "\(record.action.kind.rawValue) has a result that is concluded elsewhere")
            case .done(let made, let copy):
                let former = try tx.items.item(localID: record.localID)?.etag
                try action.finish(record, made, in: tx)
                try passOn(made?.etag, from: former, after: record, in: tx)
                if let copy { try copy.apply(to: record.localID, in: tx) }
                // Others may have changed the same folders.
                for place in record.places { try tx.scan.requestListing(of: place.path.parent) }
                for place in record.changedPlaces where place.change != .isMarked {
                    try tx.scan.noteOwnChange(at: place.path)
                }
                logger.debug("The action \(record.action.kind.rawValue) of \(record.path) is done")
                return try done(record, in: tx)
            case .conflict(let failure, let found, let isSure):
                // The answer, a person's or a rule's, is about this version.
                record.evidence.isCancelled = nil
                record.evidence.asked = ChangeEvidence.SeenVersion(found)
                try tx.journal.update(record)
                if let outcome = try UploadAction(self).answerConflict(job, record, isSure: isSure, in: tx) {
                    return outcome
                }
                return try resolve(job, .ask(.conflict), because: failure, in: tx)
            case .refused(let failure, let code, let seen):
                record.evidence.isCancelled = nil
                record.evidence.observation = seen.map { ChangeEvidence.Observation(digest: $0, since: waitTime()) }
                try tx.journal.update(record)
                return try resolve(job, .ask(code), because: failure, in: tx)
            case .waits(let failure, let delay):
                let until = waitTime() + (delay ?? Self.longBackoff.delay(afterFailures: record.rounds + 1))
                if delay == nil {
                    record.rounds += 1
                    try tx.journal.update(record)
                }
                return try resolve(job, .wait(until: until, attempts: record.attempts), because: failure, in: tx)
            }
        }
    }
}

extension SyncEngine {
    /// The time without a change on the server after which a person is asked about what is not certain.
    static let longestStillness = Duration.seconds(600)
    /// The number of questions about what is not certain that the server may leave without an answer.
    private static let mostFailedQuestions = 20
    /// The same for answers that make no sense, such as one about another name than was asked for.
    private static let mostSenselessAnswers = 5
    /// The longest pause between two checks of what is not certain.
    private static let longestCheckPause = Duration.seconds(120)

    /// Has a change be checked again whose effect the server does not show. What touches its places waits.
    private func checkAgain(
        _ job: Job, _ found: SyncRecord, _ failure: Failure, _ code: IssueCode, seen: String, wasTaken: Bool,
        in tx: Transaction
    ) throws -> RecordOutcome {
        var record = found
        let now = waitTime()
        record.mayHaveArrived = true
        if wasTaken { record.evidence.wasTaken = true }
        if record.evidence.observation?.digest != seen {
            record.evidence.observation = ChangeEvidence.Observation(digest: seen, since: now)
        }
        let since = record.evidence.observation?.since ?? now
        // An earlier time of the clock says nothing.
        let isStill = now - since >= Self.longestStillness || since > now
        try tx.journal.update(record)
        guard !isStill else { return try resolve(job, .ask(code), because: failure, in: tx) }
        let pause = min(Duration.seconds(1) * (1 << min(record.attempts, 10)), Self.longestCheckPause)
        return try resolve(job, .wait(until: now + pause, attempts: record.attempts + 1), because: failure, in: tx)
    }

    /// Lets the later uploads of an item follow the version that a change has made of the version that they were to
    /// follow. Whatever else comes between them is somebody else's, and stays.
    /// - Parameters:
    ///   - made: The version that the server has since the change; nil if it is not known.
    ///   - base: The version before the change; nil if there was none.
    ///   - records: The item's records; nil if they are to be read.
    func passOn(
        _ made: ETag?, from base: ETag?, after record: SyncRecord, among records: [SyncRecord]? = nil,
        in tx: Transaction
    ) throws {
        guard let made else { return }
        for var later in try records ?? tx.journal.records(of: record.localID) where later.id > record.id {
            guard case .upload(var upload) = later.action, !upload.isNew, upload.base == base else { continue }
            upload.base = made
            later.action = .upload(upload)
            try tx.journal.update(later)
        }
    }

    /// Decides what follows from a failure of a record.
    func decision(
        _ decision: RetryDecision, of job: Job, after failure: FetchFailure, in tx: Transaction
    ) throws -> RetryDecision {
        guard job.record.action.kind.changesServer else {
            return try DownloadAction(self).decision(decision, of: job, after: failure, in: tx)
        }
        if case .question(let question, _) = failure {
            let most = question.kind == .protocolViolation ? Self.mostSenselessAnswers : Self.mostFailedQuestions
            guard job.record.attempts >= most else { return decision }
            return .ask(job.record.action.kind == .upload ? .upload : .uncertain)
        }
        return switch decision {
        case .ask, .relist, .hold, .retry: .ask(job.record.action.kind == .upload ? .upload : .change)
        case .wait, .putBack: decision
        }
    }
}
