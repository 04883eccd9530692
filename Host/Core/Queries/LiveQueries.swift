import Database
import ItemList
import Logging
public import Model
import Synchronization
import Threads

/// The live queries of a running account. One task reads what commits changed, brings all lists to that state, and notes
/// for each reader what it has to be told. A reader takes it when it has room: until then only ids are kept.
///
/// Nothing is read while nobody reads.
final class LiveQueries: Sendable {
    /// The largest number of readers of an account.
    static let mostReaders = 1_024
    /// The time between two looks at whether policies, claims or shares changed. All listed items may have to be computed
    /// anew then, so that this happens at most once in that time.
    static let tick = Duration.seconds(1)
    /// The number of ticks between two looks at all that depends on time.
    private static let ticksOfTime = 4

    /// What the readers of a list share.
    private struct List: Sendable {
        var readers: Set<Int> = []
        /// The readers that wait for a part of the list.
        var waiting: Set<Int> = []
        /// The anchor of the state that the list shows.
        var anchor: Int64 = 0
        /// How far the list is to be believed; nil before it was read.
        var state: LiveQueryState?
    }

    private struct Reader: Sendable {
        var query: LiveQuery
        var backlog = QueryBacklog()
        /// Sent when there is something to tell.
        let news = Signal()
    }

    private struct State: Sendable {
        var lists: [LiveQuery: List] = [:]
        var readers: [Int: Reader] = [:]
        /// The folders whose listing on the server readers wait for.
        var refreshing: [Int: ItemPath] = [:]
        /// The lists that have lost their last reader.
        var dropped: Set<LiveQuery> = []
        var last = 0
        /// Whether something was committed, or has to be looked at.
        var isDirty = false
        /// Whether a reader waits for a part of its list.
        var owesParts = false
        /// Whether policies, claims or shares changed since they were read last.
        var owesFacts = false
        /// Whether the next round reads policies, claims and shares.
        var checksFacts = false
        /// Why there are no more updates; nil while there are.
        var failure: Failure?
        /// What policies, claims and shares say; nil before the first list was read.
        var standing: QueryStanding?
        /// Whether any scan has ended.
        var wasListed = false

        /// Has a reader visited by the next round.
        mutating func await(_ number: Int) {
            guard let query = readers[number]?.query else { return }
            lists[query]?.waiting.insert(number)
            owesParts = true
        }
    }

    private let state = Monitor(State())
    /// The lists themselves. Only the task that brings them up to date uses them, and the reading that it waits for.
    private let machines = Mutex<[LiveQuery: QueryMachine]>([:])
    private let hasReaders = Atomic(false)
    private let database: Database
    private let files: String
    private let refreshes: FolderRefreshes
    private let clock: HostClock
    private let logger: Logger
    /// Returns whether the items are those that the server had at the last poll.
    private let isCurrent: @Sendable () -> Bool

    init(
        _ database: Database, files: String, refreshes: FolderRefreshes, clock: HostClock, logger: Logger,
        isCurrent: @escaping @Sendable () -> Bool
    ) {
        (self.database, self.files, self.clock, self.logger) = (database, files, clock, logger)
        (self.refreshes, self.isCurrent) = (refreshes, isCurrent)
    }

    // MARK: News

    /// Notes that a transaction was committed. Called on the database's writer; returns at once.
    func hear(_ changes: CommitChanges) {
        guard hasReaders.load(ordering: .relaxed) else { return }
        let changesFacts =
            changes.policiesChanged || changes.claimsChanged || changes.collections.contains { $0 == .shares }
        guard changes.changesItems || changesFacts else { return }
        state.change { state in
            if changes.changesItems { state.isDirty = true }
            if changesFacts { state.owesFacts = true }
        }
    }

    /// Notes that the server was found, was lost, or was asked for everything.
    func serverChanged() {
        guard hasReaders.load(ordering: .relaxed) else { return }
        state.change { $0.isDirty = true }
    }

    // MARK: Work

    /// Brings the lists up to date until the task is cancelled. Nobody is told anything afterwards.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.keepTicking() }
            await advanceLists()
            group.cancelAll()
        }
        end(because: .stopping)
    }

    /// Ends all reading, for good.
    func end(because failure: Failure) {
        state.change { state in
            state.failure = failure
            state.lists = [:]
            for reader in state.readers.values { reader.news.send() }
        }
    }

    private func keepTicking() async {
        var count = 0
        while true {
            do {
                try await state.waitUnlessCancelled { !$0.readers.isEmpty }
                try await clock.sleep(Self.tick)
            } catch { return }
            count += 1
            let checksTime = count.isMultiple(of: Self.ticksOfTime)
            state.change { state in
                guard checksTime || state.owesFacts else { return }
                (state.owesFacts, state.isDirty, state.checksFacts) = (false, true, true)
            }
        }
    }

    private func advanceLists() async {
        while true {
            do {
                try await state.waitUnlessCancelled { state in
                    !state.dropped.isEmpty || ((state.isDirty || state.owesParts) && !state.readers.isEmpty)
                }
            } catch { return }
            // This and the refreshes are asked before the database is read, which is not older then.
            let isCurrent = isCurrent()
            let now = clock.agesTo()
            let (round, dropped) = state.change { state -> (Round?, Set<LiveQuery>) in
                if !state.refreshing.isEmpty {
                    let awaited = refreshes.awaited
                    for (number, folder) in state.refreshing where !awaited.contains(folder) {
                        state.refreshing[number] = nil
                        state.await(number)
                    }
                }
                let dropped = state.dropped
                let mustRead =
                    state.isDirty || state.standing == nil || state.lists.values.contains { $0.state == nil }
                let round = Round(
                    queries: Array(state.lists.keys), standing: state.standing,
                    checksFacts: state.checksFacts || state.standing == nil, now: now)
                state.dropped = []
                (state.isDirty, state.owesParts) = (false, false)
                guard mustRead, !state.readers.isEmpty else { return (nil, dropped) }
                state.checksFacts = false
                return (round, dropped)
            }
            machines.withLock { machines in for query in dropped { machines[query] = nil } }
            do {
                var done = Round.Result()
                if let round {
                    done = try await database.read { [self] reads in
                        try machines.withLock { try round.carriedOut(&$0, reads) }
                    }
                }
                publish(done, isCurrent: isCurrent)
            } catch is CancellationError {
                return
            } catch {
                // The lists are read anew with the next change, or the next look.
                logger.warning("The live queries cannot be brought up to date: \(error)")
                machines.withLock { $0 = [:] }
                state.change { state in
                    state.standing = nil
                    for query in Array(state.lists.keys) { state.lists[query]?.state = nil }
                    for number in Array(state.readers.keys) { state.readers[number]?.backlog.isDue = true }
                }
            }
        }
    }

    /// What is done with one state of the database.
    private struct Round: Sendable {
        let queries: [LiveQuery]
        let standing: QueryStanding?
        let checksFacts: Bool
        let now: Timestamp

        struct Result: Sendable {
            /// What changed in the lists that were there before.
            var sets: [LiveQuery: ChangeSet] = [:]
            /// Nil if the database was not read.
            var standing: QueryStanding?
            /// Whether any scan has ended.
            var wasListed = false
        }

        /// Brings the lists to the state of the database. Those that are missing are read.
        func carriedOut(_ machines: inout [LiveQuery: QueryMachine], _ reads: ReadTransaction) throws -> Result {
            let rows = try StoredRows(reads)
            var done = Result()
            var standing = try checksFacts ? QueryStanding(reads, now: now) : self.standing
            done.wasListed = try reads.scanHistory().lastScan != nil
            var changes = QueryChanges(after: rows.anchor)
            if let after = machines.values.lazy.map(\.anchor).min(), after < rows.anchor {
                changes = try rows.changes(after: after)
            }
            if checksFacts, let before = self.standing {
                changes.changesFacts = true
                changes.shown =
                    try standing?.differences(
                        from: before, among: { machines.values.reduce(into: []) { $0.formUnion($1.ids) } }, rows) ?? []
            }
            done.standing = standing
            let facts = { [standing] () throws -> ConditionFacts in
                guard let standing else { throw Failure(.internal, "What policies say is not known") }
                return standing.facts
            }
            for query in queries {
                done.sets[query] = try machines[query]?.advance(changes, rows, now: now, facts: facts)
                guard done.sets[query] == nil else { continue }
                machines[query] = try QueryMachine(query, rows, now: now, facts: facts)
            }
            return done
        }
    }

    /// Notes for each reader what has changed. Readers that wait for a part of their list get it.
    private func publish(_ done: Round.Result, isCurrent: Bool) {
        state.change { state in
            machines.withLock { machines in
                if let standing = done.standing {
                    (state.standing, state.wasListed) = (standing, done.wasListed)
                }
                for (query, machine) in machines {
                    // The last reader may have gone meanwhile, and another one come.
                    guard var list = state.lists[query], !state.dropped.contains(query) else { continue }
                    let set = done.sets[query] ?? ChangeSet()
                    let standing: LiveQueryState =
                        if machine.target != .known { .targetRemoved } else if isCurrent { .idle } else {
                            state.wasListed ? .contentsFromCache : .waitingForServer
                        }
                    let concerned = set.isEmpty && standing == list.state ? list.waiting : list.readers
                    (list.anchor, list.state, list.waiting) = (machine.anchor, standing, [])
                    state.lists[query] = list
                    let shared = concerned.count > 1 ? SharedUpdate() : nil
                    for number in concerned {
                        guard var backlog = state.readers[number]?.backlog else { continue }
                        if !set.isEmpty { backlog.note(set, machine, shared) }
                        backlog.fill(from: machine)
                        backlog.state =
                            standing == .idle && state.refreshing[number] != nil
                            ? (state.wasListed ? .contentsFromCache : .waitingForServer) : standing
                        state.readers[number]?.backlog = backlog
                        if backlog.hasNews { state.readers[number]?.news.send() }
                    }
                }
            }
        }
    }

    // MARK: Readers

    /// Adds a reader.
    /// - Parameter folder: The folder whose listing on the server the reader has asked for.
    /// - Throws: `.vaultLocked` if there are too many; `.failed` if the account ends.
    func add(_ query: LiveQuery, awaiting folder: ItemPath? = nil) throws(Failure) -> LiveQueryReader {
        let added: Result<LiveQueryReader, Failure> = state.change { [self] state in
            if let failure = state.failure { return .failure(failure) }
            guard state.readers.count < Self.mostReaders else {
                return .failure(LiveQuery.tooMany)
            }
            state.last += 1
            // What changed while nobody read was not heard of.
            if state.readers.isEmpty { (state.checksFacts, state.isDirty) = (true, true) }
            let reader = Reader(query: query)
            state.readers[state.last] = reader
            state.refreshing[state.last] = folder
            state.lists[query, default: List()].readers.insert(state.last)
            state.await(state.last)
            hasReaders.store(true, ordering: .relaxed)
            return .success(LiveQueryReader(state.last, reader.news, of: self))
        }
        return try added.get()
    }

    fileprivate func remove(_ number: Int) {
        state.change { state in
            guard let reader = state.readers.removeValue(forKey: number) else { return }
            state.refreshing[number] = nil
            state.lists[reader.query]?.readers.remove(number)
            state.lists[reader.query]?.waiting.remove(number)
            if state.lists[reader.query]?.readers.isEmpty ?? false {
                state.lists[reader.query] = nil
                state.dropped.insert(reader.query)
            }
            if state.readers.isEmpty { state.standing = nil }
            hasReaders.store(!state.readers.isEmpty, ordering: .relaxed)
        }
    }

    /// What a reader takes: ids alone.
    private struct Taken: Sendable {
        var told: QueryBacklog.Told
        var anchor: Int64
        var standing: QueryStanding
    }

    /// Returns what there is to tell a reader; nil if there is nothing.
    /// - Throws: Why nothing is told any more; the database's errors.
    fileprivate func take(_ number: Int) async throws -> LiveQueryUpdate? {
        let taken: Result<Taken?, Failure> = state.change { state in
            if let failure = state.failure { return .failure(failure) }
            guard let reader = state.readers[number], let standing = state.standing,
                let told = state.readers[number]?.backlog.take()
            else { return .success(nil) }
            if state.readers[number]?.backlog.isWaiting == true { state.await(number) }
            return .success(
                Taken(told: told, anchor: state.lists[reader.query]?.anchor ?? 0, standing: standing))
        }
        guard let taken = try taken.get() else { return nil }
        if let known = taken.told.shared?.known(in: taken.told.state) { return known }
        do { return try await database.read { [self] in try update(taken, $0) } } catch {
            // What was taken is not told. The reader gets the list anew, if it goes on.
            state.change { state in
                state.readers[number]?.backlog.isDue = true
                state.await(number)
            }
            throw error
        }
    }

    private func update(_ taken: Taken, _ reads: ReadTransaction) throws -> LiveQueryUpdate {
        // Another reader may have read it while this one waited for the connection.
        if let known = taken.told.shared?.known(in: taken.told.state) { return known }
        let now = clock.agesTo()
        var position = try reads.tombstones.position()
        position.anchor = taken.anchor
        var update = LiveQueryUpdate(position: position, isAnew: taken.told.isAnew, state: taken.told.state)
        let moved = taken.told.set.moved
        func report(_ id: ItemRowID) throws -> ItemReport {
            try taken.standing.report(Self.item(id, reads, now), reads, files: files)
        }
        var left: [ItemRowID: Int] = [:]
        for entry in taken.told.set.removals {
            if moved.contains(entry.id) {
                left[entry.id] = entry.position
            } else {
                update.removed.append(.init(report: try report(entry.id), position: entry.position))
            }
        }
        for entry in taken.told.set.insertions {
            let told = LiveQueryUpdate.Entry(
                report: try report(entry.id), position: entry.position, oldPosition: left[entry.id])
            if told.oldPosition == nil { update.inserted.append(told) } else { update.moved.append(told) }
        }
        update.updated = try taken.told.set.updates.map {
            .init(
                report: try report($0.id), position: $0.position,
                oldPosition: taken.told.set.oldPosition(of: $0.position))
        }
        return taken.told.shared?.noted(update) ?? update
    }

    /// Returns the item of a row, or what is known of a row that was deleted.
    private static func item(_ id: ItemRowID, _ reads: ReadTransaction, _ now: Timestamp) throws -> Item {
        if let item = try reads.items.item(databaseID: id) { return item }
        guard let tombstone = try reads.tombstones.of(id) else {
            throw Failure(.failed, "a change was dropped before it was read", hint: "begin the query anew")
        }
        var item = Item(localID: tombstone.localID, fileID: nil, path: tombstone.path, kind: tombstone.kind)
        item.databaseID = id
        item.removedAt = now
        return item
    }
}

/// A reader of a live query's list: first of its contents, then of its changes. Must be ended.
///
/// ```swift
/// let reader = try host.read(LiveQuery(.contents(of: .root)))
/// defer { reader.end() }
/// while true { print(try await reader.next().inserted.count) }
/// ```
public final class LiveQueryReader: Sendable {
    fileprivate let number: Int
    private let news: Signal
    private let queries: LiveQueries

    init(_ number: Int, _ news: Signal, of queries: LiveQueries) {
        (self.number, self.news, self.queries) = (number, news, queries)
    }

    /// Waits for something to tell, and takes it. What comes until the next call is told together.
    /// - Throws: `.failed` if the account ends, or the task is cancelled, or changes were dropped that the reader needs;
    ///   the database's `Failure`.
    public func next() async throws(Failure) -> LiveQueryUpdate {
        do {
            while true {
                if let update = try await queries.take(number) { return update }
                guard await news.wait() else { throw CancellationError() }
            }
        } catch {
            throw Failure(of: error)
        }
    }

    /// Ends the reading. The list is dropped with its last reader.
    public func end() { queries.remove(number) }
}

extension LiveQueries {
    /// Returns the anchor up to which a reader's list has all changes, once the reader has taken everything.
    func anchor(of reader: LiveQueryReader) -> Int64? {
        state.with { state in state.readers[reader.number].flatMap { state.lists[$0.query]?.anchor } }
    }
}
