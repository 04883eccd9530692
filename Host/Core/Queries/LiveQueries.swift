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
    /// The largest number of ids that are kept for a reader. A reader that misses more gets the list anew.
    static let mostPending = 10_000
    /// The time between two looks at whether policies, claims or shares changed. All listed items may have to be computed
    /// anew then, so that this happens at most once in that time.
    static let tick = Duration.seconds(1)
    /// The number of ticks between two looks at all that depends on time.
    private static let ticksOfTime = 4

    /// A list, and the readers that share it.
    private struct List: Sendable {
        /// The list itself; nil before it was read, and while it is brought to another state.
        var machine: QueryMachine?
        var readers: Set<Int> = []
    }

    /// What a reader has, and what it has to be told.
    private struct Reader: Sendable {
        var query: LiveQuery
        /// What is left of the list that the reader gets first, or anew.
        var contents: ArraySlice<ItemRowID> = []
        /// The number of items of this list that the reader has.
        var taken = 0
        /// Whether the next part of the list is the first one.
        var begins = true
        /// Whether the list waits to be read.
        var waits = true
        /// What changed after that list.
        var pending = ChangeSet()
        /// What the readers share of whom ``pending`` is the same; nil if it is this reader's alone.
        var shared: SharedUpdate?
        /// The anchor of the list that ``contents`` is of.
        var contentsAnchor: Int64 = 0
        /// The anchor of the reader's list, once it has taken everything.
        var anchor: Int64 = 0
        var state = LiveQueryState.contentsFromCache
        var toldState: LiveQueryState?
        /// Whether the list was told before, so that the next one is told anew.
        var isAnew = false
        /// Sent when there is something to tell.
        let news = Signal()

        var hasNews: Bool { !waits && (!contents.isEmpty || !pending.isEmpty || toldState != state) }
    }

    private struct State: Sendable {
        var lists: [LiveQuery: List] = [:]
        var readers: [Int: Reader] = [:]
        /// The folders whose listing on the server readers wait for.
        var refreshing: [Int: ItemPath] = [:]
        var last = 0
        /// Whether something was committed, or has to be looked at.
        var isDirty = false
        /// Whether policies, claims or shares changed since they were read last.
        var owesFacts = false
        /// Whether the next round reads policies, claims and shares.
        var checksFacts = false
        /// Why there are no more updates; nil while there are.
        var failure: Failure?
        /// What policies, claims and shares say; nil before the first list was read.
        var standing: QueryStanding?
    }

    private let state = Monitor(State())
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
                    defer { if !state.readers.isEmpty { state.isDirty = false } }
                    return state.isDirty && !state.readers.isEmpty
                }
            } catch { return }
            // This and the refreshes are asked before the database is read, which is not older then.
            let isCurrent = isCurrent()
            let now = clock.agesTo()
            let work = state.change { state in
                defer { state.checksFacts = false }
                if !state.refreshing.isEmpty {
                    let awaited = refreshes.awaited
                    state.refreshing = state.refreshing.filter { awaited.contains($0.value) }
                }
                var lists: [LiveQuery: QueryMachine?] = [:]
                for query in Array(state.lists.keys) {
                    lists[query] = .some(state.lists[query]?.machine)
                    state.lists[query]?.machine = nil
                }
                return Round(
                    lists: lists, standing: state.standing,
                    checksFacts: state.checksFacts || state.standing == nil, now: now)
            }
            do {
                let done = try await database.read { try work.carriedOut($0) }
                publish(done, isCurrent: isCurrent)
            } catch is CancellationError {
                return
            } catch {
                // The lists are read anew with the next change, or the next look.
                logger.warning("The live queries cannot be brought up to date: \(error)")
                state.change { state in
                    state.standing = nil
                    for number in Array(state.readers.keys) { state.readers[number]?.waits = true }
                }
            }
        }
    }

    /// What is done with one state of the database.
    private struct Round: Sendable {
        /// The lists; nil for one that was not read yet.
        let lists: [LiveQuery: QueryMachine?]
        let standing: QueryStanding?
        let checksFacts: Bool
        let now: Timestamp

        struct Result: Sendable {
            var lists: [LiveQuery: (machine: QueryMachine, set: ChangeSet?)] = [:]
            var standing: QueryStanding?
            /// Whether any scan has ended.
            var wasListed = false
        }

        func carriedOut(_ reads: ReadTransaction) throws -> Result {
            let rows = try StoredRows(reads)
            var done = Result()
            var standing = try checksFacts ? QueryStanding(reads, now: now) : self.standing
            done.wasListed = try reads.scanHistory().lastScan != nil
            let begun = lists.values.compactMap(\.self)
            var changes = QueryChanges(after: rows.anchor)
            if let after = begun.map(\.anchor).min(), after < rows.anchor { changes = try rows.changes(after: after) }
            if checksFacts, let before = self.standing {
                changes.changesFacts = true
                changes.shown =
                    try standing?.differences(
                        from: before, among: { begun.reduce(into: []) { $0.formUnion($1.ids) } }, rows) ?? []
            }
            done.standing = standing
            let facts = { [standing] () throws -> ConditionFacts in
                guard let standing else { throw Failure(.internal, "What policies say is not known") }
                return standing.facts
            }
            for (query, machine) in lists {
                if var machine {
                    let set = try machine.advance(changes, rows, now: now, facts: facts)
                    done.lists[query] = (machine, set)
                } else {
                    done.lists[query] = (try QueryMachine(query, rows, now: now, facts: facts), nil)
                }
            }
            return done
        }
    }

    /// Notes for each reader what has changed.
    private func publish(_ done: Round.Result, isCurrent: Bool) {
        state.change { state in
            state.standing = done.standing
            for (query, (machine, set)) in done.lists {
                // The last reader may have gone meanwhile.
                guard let list = state.lists[query] else { continue }
                state.lists[query]?.machine = machine
                var whole: [ItemRowID]?
                let shared = list.readers.count > 1 ? SharedUpdate() : nil
                for number in list.readers {
                    guard var reader = state.readers[number] else { continue }
                    if let set, !reader.waits {
                        if !set.isEmpty {
                            // What is left of the contents may be read after another reader's set, and be newer.
                            reader.shared = reader.pending.isEmpty && reader.contents.isEmpty ? shared : nil
                            reader.pending = reader.pending.followed(by: set)
                        }
                        reader.anchor = machine.anchor
                    }
                    if set == nil || reader.waits || reader.pending.count > Self.mostPending {
                        reader.isAnew = reader.isAnew || reader.toldState != nil
                        let ids = whole ?? machine.ids
                        whole = ids
                        (reader.contents, reader.taken, reader.begins) = (ids[...], 0, true)
                        (reader.pending, reader.shared, reader.waits) = (ChangeSet(), nil, false)
                        (reader.contentsAnchor, reader.anchor) = (machine.anchor, machine.anchor)
                        reader.toldState = nil
                    }
                    reader.state =
                        if machine.target != .known {
                            .targetRemoved
                        } else if isCurrent, state.refreshing[number] == nil { .idle } else {
                            done.wasListed ? .contentsFromCache : .waitingForServer
                        }
                    state.readers[number] = reader
                    if reader.hasNews { reader.news.send() }
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
            if state.readers.isEmpty { state.checksFacts = true }
            let reader = Reader(query: query)
            state.readers[state.last] = reader
            state.refreshing[state.last] = folder
            state.lists[query, default: List()].readers.insert(state.last)
            state.isDirty = true
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
            if state.lists[reader.query]?.readers.isEmpty ?? false { state.lists[reader.query] = nil }
            if state.readers.isEmpty { state.standing = nil }
            hasReaders.store(!state.readers.isEmpty, ordering: .relaxed)
        }
    }

    /// The largest number of items of a list that are told at once.
    private static let mostAtOnce = 500

    /// What a reader takes: ids alone.
    private struct Taken: Sendable {
        var set: ChangeSet
        var anchor: Int64
        var state: LiveQueryState
        var isAnew = false
        var standing: QueryStanding
        var shared: SharedUpdate?
    }

    /// Returns what there is to tell a reader; nil if there is nothing.
    /// - Throws: Why nothing is told any more; the database's errors.
    fileprivate func take(_ number: Int) async throws -> LiveQueryUpdate? {
        let taken: Result<Taken?, Failure> = state.change { state in
            if let failure = state.failure { return .failure(failure) }
            guard var reader = state.readers[number], reader.hasNews, let standing = state.standing else {
                return .success(nil)
            }
            defer { state.readers[number] = reader }
            var taken = Taken(set: ChangeSet(), anchor: reader.anchor, state: reader.state, standing: standing)
            if !reader.contents.isEmpty || reader.begins {
                taken.isAnew = reader.begins && reader.isAnew
                taken.anchor = reader.contentsAnchor
                (reader.begins, reader.isAnew) = (false, false)
                let part = reader.contents.prefix(Self.mostAtOnce)
                taken.set.insertions = part.enumerated().map { .init($0.element, at: reader.taken + $0.offset) }
                reader.contents = reader.contents.dropFirst(part.count)
                reader.taken += part.count
                // What the server had is not all told before what changed since.
                if !reader.contents.isEmpty || !reader.pending.isEmpty, reader.state == .idle {
                    taken.state = .contentsFromCache
                }
            } else {
                (taken.set, taken.shared) = (reader.pending, reader.shared)
                (reader.pending, reader.shared) = (ChangeSet(), nil)
            }
            reader.toldState = taken.state
            return .success(taken)
        }
        guard let taken = try taken.get() else { return nil }
        if let known = taken.shared?.known(in: taken.state) { return known }
        do { return try await database.read { [self] in try update(taken, $0) } } catch {
            // What was taken is not told. The reader gets the list anew, if it goes on.
            state.change { state in
                state.readers[number]?.waits = true
                state.isDirty = true
            }
            throw error
        }
    }

    private func update(_ taken: Taken, _ reads: ReadTransaction) throws -> LiveQueryUpdate {
        // Another reader may have read it while this one waited for the connection.
        if let known = taken.shared?.known(in: taken.state) { return known }
        let now = clock.agesTo()
        var position = try reads.tombstones.position()
        position.anchor = taken.anchor
        var update = LiveQueryUpdate(position: position, isAnew: taken.isAnew, state: taken.state)
        let moved = taken.set.moved
        func report(_ id: ItemRowID) throws -> ItemReport {
            try taken.standing.report(Self.item(id, reads, now), reads, files: files)
        }
        var left: [ItemRowID: Int] = [:]
        for entry in taken.set.removals {
            if moved.contains(entry.id) {
                left[entry.id] = entry.position
            } else {
                update.removed.append(.init(report: try report(entry.id), position: entry.position))
            }
        }
        for entry in taken.set.insertions {
            let told = LiveQueryUpdate.Entry(
                report: try report(entry.id), position: entry.position, oldPosition: left[entry.id])
            if told.oldPosition == nil { update.inserted.append(told) } else { update.moved.append(told) }
        }
        update.updated = try taken.set.updates.map {
            .init(
                report: try report($0.id), position: $0.position,
                oldPosition: taken.set.oldPosition(of: $0.position))
        }
        return taken.shared?.noted(update) ?? update
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
    func anchor(of reader: LiveQueryReader) -> Int64? { state.with { $0.readers[reader.number]?.anchor } }
}
