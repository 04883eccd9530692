import Connection
import Database
import ItemList
public import Model
import SyncEngine

/// A command of a person that changes something on the server. It is accepted without a network too, and shows in the
/// item list at once.
///
/// A change that is refused is an answer: `.notFound` if an item is not known; `.cannotCreate` if something is in the
/// way; `.badData` for what makes no sense, such as a move into itself; `.denied` if the account may not do it;
/// `.failed` for an item that exists only here, or that the server may have lost. With an error, it is not known whether
/// the changes are queued.
public struct ServerChange: AccountCommand {
    public static let name = "change"

    /// The changes, in the order in which they are made. One that is refused does not keep the others from being made.
    public var changes: [ChangeRequest]
    /// The records of earlier changes, for which the command waits too.
    public var records: [SyncRecordID]
    /// Whether the command waits until the server has made the changes. Otherwise the running host or the next run
    /// makes them.
    public var waits: Bool

    /// Creates the command.
    public init(_ changes: [ChangeRequest], after records: [SyncRecordID] = [], waits: Bool) {
        (self.changes, self.records, self.waits) = (changes, records, waits)
    }

    public func carryOut(for host: AccountHost) async throws(Failure) -> ChangeOutcome {
        try await host.failing {
            try await host.work.turn {
                try await host.recover()
                return try await make(for: host, isAtWork: false)
            } atWork: {
                try await make(for: host, isAtWork: true)
            }
        }
    }

    private func make(for host: AccountHost, isAtWork: Bool) async throws -> ChangeOutcome {
        var outcome = ChangeOutcome()
        outcome.changes = try await host.enqueue(changes)
        let records = Set(outcome.changes.compactMap(\.record) + self.records)
        guard waits, !records.isEmpty else { return outcome }
        let queued = outcome
        let (made, takenBack, places) = try await host.engine.following(records) {
            try await wait(for: records, host, isAtWork: isAtWork, queued)
        }
        outcome = made
        for (number, change) in queued.changes.enumerated() {
            guard let record = change.record, takenBack.contains(record) else { continue }
            outcome.changes[number] = .init(refusal: .takenBack(record))
        }
        outcome.failures += takenBack.intersection(self.records).sorted().map { .takenBack($0) }
        outcome.add(places)
        return outcome
    }

    /// Waits until the server has made changes, or cannot make them now.
    private func wait(
        for records: Set<SyncRecordID>, _ host: AccountHost, isAtWork: Bool, _ queued: ChangeOutcome
    ) async throws -> ChangeOutcome {
        var outcome = queued
        let facts: ServerFacts?
        do throws(Failure) { facts = try await host.reachServer(isAtWork: isAtWork) } catch {
            outcome.add(error, leaving: records, isAtWork: isAtWork)
            return outcome
        }
        let drained =
            isAtWork
            ? try await host.engine.wait(for: records)
            : try await host.engine.drain(only: records, with: host.partners)
        // The next command is another process, which must not rely on a condition again.
        if host.connection.known?.ignoresConditions == true { try await host.keepServer() }
        outcome.changes = try await host.database.read { [changes = outcome.changes] reads in
            try changes.map { change in
                var change = change
                if let id = change.record, try reads.journal.record(id: id) == nil { change.record = nil }
                return change
            }
        }
        try await outcome.add(drained, of: host, isAtWork: isAtWork, leaving: records)
        // The changes may have asked the server for more than was known.
        try await host.keepServer()
        try await listLeft(facts, of: host)
        return outcome
    }

    /// Lists what is in folders that the changes made, and that the server has not told yet. What cannot be listed is
    /// left for the next scan.
    /// - Parameter facts: The facts about the server; nil if a run is in progress, which lists the folders.
    private func listLeft(_ facts: ServerFacts?, of host: AccountHost) async throws {
        let targets = changes.compactMap { change -> ItemPath? in
            switch change {
            case .copy(_, let target), .move(_, let target): target
            case .createFolder, .haveFolder, .delete, .setFavorite, .setModificationTime, .put: nil
            }
        }
        guard !targets.isEmpty else { return }
        let jobs = try await host.database.read { try $0.scan.jobs() }
        guard jobs.contains(where: { job in targets.contains { $0 == job.path || $0.isAncestor(of: job.path) } }) else {
            return
        }
        guard let facts else {
            _ = try await host.poll(onlyLeft: true)
            return
        }
        let mode = try await host.nextMode(facts)
        _ = try await host.scan(facts, mode == .whole ? .rest : mode)
    }
}

/// The outcome of changes of the server.
public struct ChangeOutcome: Codable, Sendable {
    /// The outcome of one change.
    public struct Change: Codable, Sendable {
        /// The record that is in the journal; nil if the change is made, or nothing had to be done.
        public var record: SyncRecordID?
        /// The reason why the change was refused, or that it was taken back. Nothing was changed then.
        public var refusal: Failure?

        /// Creates an outcome.
        public init(record: SyncRecordID? = nil, refusal: Failure? = nil) {
            (self.record, self.refusal) = (record, refusal)
        }
    }

    /// The place of a file that is uploaded under another name than asked for, because a rule for conflicts keeps both
    /// versions.
    public struct Place: Codable, Sendable {
        /// The record of the upload, which may have left the journal.
        public var record: SyncRecordID
        /// The path on the server.
        public var path: ItemPath

        /// Creates a place.
        public init(record: SyncRecordID, path: ItemPath) { (self.record, self.path) = (record, path) }
    }

    /// The outcomes, in the order of the changes.
    public var changes: [Change] = []
    /// The errors because of which changes are not made yet.
    public var failures: [Failure] = []
    /// The issues that a person must decide first.
    public var issues: [Issue] = []
    /// The files that are uploaded under other names than asked for.
    public var places: [Place] = []

    /// Creates the outcome of no changes.
    public init() {}
}

extension ChangeOutcome {
    /// Adds the error because of which nothing could be asked for.
    mutating func add(_ failure: Failure, leaving records: Set<SyncRecordID>, isAtWork: Bool = false) {
        failures.append(failure.leaving(records.sorted(), isAtWork: isAtWork))
    }

    /// Adds places of files by their records.
    mutating func add(_ places: [SyncRecordID: ItemPath]) {
        self.places += places.sorted { $0.key < $1.key }.map { Place(record: $0.key, path: $0.value) }
    }

    /// Adds the reasons why changes are not made yet.
    /// - Parameter records: The records of all changes, of which the drain names the first, or does not know.
    mutating func add(
        _ drained: DrainOutcome, of host: AccountHost, isAtWork: Bool, leaving records: Set<SyncRecordID>
    ) async throws {
        let waiting = drained.left.filter { $0.issue == nil }
        var named: Set<IssueID> = []
        for id in drained.left.compactMap(\.issue) where named.insert(id).inserted {
            if let issue = try await host.database.read({ try $0.issues.issue(id: id) }) { issues.append(issue) }
        }
        if let failure = drained.failure ?? (drained.isOffline ? host.session.failure : nil) {
            let left = try await host.database.read { reads in
                try records.sorted().filter { id in
                    guard let record = try reads.journal.record(id: id) else { return false }
                    if case .issue = record.wait { return false }
                    return true
                }
            }
            if !left.isEmpty { failures.append(failure.leaving(left, isAtWork: isAtWork)) }
            return
        }
        if drained.leftCount > drained.left.count {
            failures.append(
                Failure(
                    .failed, "\(drained.leftCount - drained.left.count) more changes are not made yet",
                    hint: .listSyncRecords))
        }
        for left in waiting {
            failures.append(
                Failure(left.failure.ofOneItem, "\(left.path): \(left.why)").leaving([left.record], isAtWork: isAtWork))
        }
    }
}

extension AccountHost {
    /// Queues changes, and has the tree follow them.
    func enqueue(_ changes: [ChangeRequest]) async throws -> [ChangeOutcome.Change] {
        guard !changes.isEmpty else { return [] }
        let server = try await database.read { [connection] in try connection.server(rememberedIn: $0) }
        let queued = try await database.write { [engine] tx in
            try changes.map { change -> ChangeOutcome.Change in
                if let refusal = change.refusal(by: server) { return .init(refusal: refusal) }
                return switch try engine.enqueue(.change(change), in: tx) {
                case .done: .init()
                case .refused(let failure): .init(refusal: failure)
                case .queued(let id), .joined(let id), .waits(let id, _): .init(record: id)
                }
            }
        }
        if queued.contains(where: { $0.record != nil }) { try await list.carryOutMoves() }
        // A newer upload has taken the place of one that waited, or a deletion has.
        await engine.removeSpentSnapshots()
        return queued
    }
}

extension Failure {
    fileprivate static func takenBack(_ record: SyncRecordID) -> Failure {
        Failure(
            .failed,
            "what was asked for as record \(record) was taken back: by another command, by an answer to an issue, or by a "
                + "rule for conflicts")
    }

    /// Returns the failure with the advice that a change is still queued.
    /// - Parameter records: The changes' records, of which there is at least one.
    fileprivate func leaving(_ records: [SyncRecordID], isAtWork: Bool) -> Failure {
        guard let first = records.first else { return self }
        var failure = self
        let more: Advice =
            records.count == 1
            ? .changeStaysQueued(first, isAtWork: isAtWork) : .changesStayQueued(records.count, isAtWork: isAtWork)
        failure.hint = failure.hint.map { .both($0, more) } ?? more
        return failure
    }
}

extension ChangeRequest {
    /// Returns the refusal of a change that the server is known not to make: one that only servers of the ownCloud
    /// family make, or one to a name that the server does not take.
    func refusal(by server: KnownServer?) -> Failure? {
        guard let server else { return nil }
        if !server.isOwnCloudFamily, let refusal = refusalByPlainServer { return refusal }
        guard let target, let why = server.forbiddenNames?.objection(to: target.name) else { return nil }
        return Failure(.badData, "\(target) cannot be made: the server \(why)", hint: "Choose another name")
    }

    /// The path at which the change puts something; nil if it puts nothing anywhere.
    private var target: ItemPath? {
        switch self {
        case .createFolder(let path), .haveFolder(let path), .put(_, let path, _): path
        case .move(_, let target), .copy(_, let target): target
        case .delete, .setFavorite, .setModificationTime: nil
        }
    }

    /// The refusal of a change that only servers of the ownCloud family make; nil if any server may make it.
    private var refusalByPlainServer: Failure? {
        switch self {
        case .setFavorite(let path, _):
            Failure(.failed, "\(path) cannot be a favorite: only servers of the ownCloud family have favorites")
        case .setModificationTime(let path, _):
            Failure(
                .failed,
                "The modification time of \(path) cannot be set: only servers of the ownCloud family let clients do so")
        case .createFolder, .haveFolder, .delete, .move, .copy, .put: nil
        }
    }
}

extension Connection {
    /// Returns the facts about the server; nil if nothing is known of it.
    /// - Parameter reads: The account's database, which remembers the server.
    func server(rememberedIn reads: some DatabaseReads) throws -> KnownServer? {
        try known ?? reads.meta.json(KnownServer.self, .server)
    }
}

extension AccountHost {
    /// Finds the server for a command.
    /// - Parameter isAtWork: Whether a run is in progress, which finds the server by itself.
    /// - Returns: The facts about the server; nil if a run is in progress, which keeps them.
    /// - Throws: The reason why the server cannot be asked.
    @discardableResult
    func reachServer(isAtWork: Bool) async throws(Failure) -> ServerFacts? {
        do {
            guard !isAtWork else {
                try await reachAtWork()
                return nil
            }
            return try await ListingRetry.trying(clock, upTo: 1) { try await connect().facts }
        } catch let error as ConnectionError {
            throw error.failure
        } catch {
            throw Failure(of: error)
        }
    }
}
