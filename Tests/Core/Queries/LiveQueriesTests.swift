import ItemList
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Core
@testable import Database

/// Waits for what a reader is told next. A reader that is told nothing fails its test and does not stop it for ever.
private func news(_ reader: LiveQueryReader) async throws -> LiveQueryUpdate {
    try await withThrowingTaskGroup(of: LiveQueryUpdate.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await reader.next() }
        group.addTask {
            try await Task.sleep(for: .seconds(300))
            throw Failure(.timedOut, "nothing is told")
        }
        return try #require(try await group.next())
    }
}

/// Tests of the live queries of an account, on a database of their own, without a server.
@Suite struct LiveQueriesTests {
    private struct Fixture {
        let database: Database
        let queries: LiveQueries
        let clock: TestClock
        let isCurrent: Monitor<Bool>

        /// Writes a file's row, and returns it.
        @discardableResult
        func add(_ path: String, size: Int64? = 1, kind: Item.Kind = .file, used: Timestamp? = nil) async throws -> Item
        {
            try await database.write { tx in
                var item = kind == .file ? fileItem(path) : folderItem(path)
                item.fileID = FileID(path)
                (item.size, item.lastModified) = (size, used)
                return try tx.items.insert(item)
            }
        }

        func change(_ path: String, _ body: @escaping @Sendable (inout Item) -> Void) async throws {
            _ = try await database.write { tx in
                var item = try #require(try tx.items.item(at: ItemPath(unchecked: path)))
                body(&item)
                return try tx.items.update(item)
            }
        }

        /// Lets the time pass after which policies, claims and shares are read again.
        func tick() async {
            await clock.untilSleeping(for: LiveQueries.tick)
            clock.advance(LiveQueries.tick)
        }

        func reader(_ query: LiveQuery) throws -> LiveQueryReader { try queries.add(query) }
    }

    private func running(_ body: @escaping @Sendable (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let (clock, isCurrent) = (TestClock(), Monitor(true))
            let (refreshes, logger) = (FolderRefreshes(), CollectedLog().logger)
            let queries = LiveQueries(
                database, files: "/files", refreshes: refreshes, clock: clock.host, logger: logger
            ) { isCurrent.with { $0 } }
            database.setCommitObserver { queries.hear($0) }
            let fixture = Fixture(database: database, queries: queries, clock: clock, isCurrent: isCurrent)
            let run = Task { await queries.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
            run.cancel()
            await run.value
            try result.get()
            try database.close()
        }
    }

    /// What a reader's list becomes, by paths.
    private struct Replay {
        var paths: [String] = []
        var state: LiveQueryState?
        var told: [LiveQueryUpdate] = []

        mutating func apply(_ update: LiveQueryUpdate) {
            if update.isAnew { paths = [] }
            let leaving = update.removed.map(\.position) + update.moved.compactMap(\.oldPosition)
            for position in leaving.sorted(by: >) { paths.remove(at: position) }
            for entry in (update.inserted + update.moved).sorted(by: { $0.position < $1.position }) {
                paths.insert(entry.report.item.path.text, at: entry.position)
            }
            for entry in update.updated { paths[entry.position] = entry.report.item.path.text }
            state = update.state
            told.append(update)
        }

        /// Takes updates until the list and the state are as given.
        mutating func read(
            _ reader: LiveQueryReader, until paths: [String], _ state: LiveQueryState = .idle
        ) async throws {
            while self.paths != paths || self.state != state { apply(try await news(reader)) }
        }
    }

    private func query(_ folder: String, _ filters: String...) throws -> LiveQuery {
        var query = LiveQuery(.contents(of: ItemPath(unchecked: folder)))
        query.filters = try filters.map { try ItemCondition(parsing: $0) }
        return query
    }

    /// Waits until a reader's list is at the last state.
    @discardableResult
    private func untilCurrent(_ fixture: Fixture, _ reader: LiveQueryReader) async throws -> ChangePosition {
        let position = try await fixture.database.read { try $0.tombstones.position() }
        await until { fixture.queries.anchor(of: reader) == position.anchor }
        return position
    }

    @Test("U1: a query gives what is known at once, says that the server was not asked, and then that it was")
    func cacheFirst() async throws {
        try await running { fixture in
            fixture.isCurrent.change { $0 = false }
            let reader = try fixture.reader(try query("/"))
            defer { reader.end() }
            var replay = Replay()
            try await replay.read(reader, until: [], .waitingForServer)
            try await fixture.database.write { try $0.meta.set(MetaKey("lastScan"), Timestamp(seconds: 5)) }
            try await fixture.add("/a")
            try await replay.read(reader, until: ["/a"], .contentsFromCache)
            fixture.isCurrent.change { $0 = true }
            fixture.queries.serverChanged()
            try await replay.read(reader, until: ["/a"], .idle)
            #expect(replay.told.last?.inserted.isEmpty == true && replay.told.allSatisfy { !$0.isAnew })
            let second = try fixture.reader(try query("/"))
            defer { second.end() }
            var other = Replay()
            try await other.read(second, until: ["/a"])
        }
    }

    @Test("U1: a list that has changed since it was read does not count as current before its changes are told")
    func currentWithChanges() async throws {
        try await running { fixture in
            fixture.isCurrent.change { $0 = false }
            try await fixture.add("/a")
            let reader = try fixture.reader(try query("/"))
            defer { reader.end() }
            try await untilCurrent(fixture, reader)
            fixture.isCurrent.change { $0 = true }
            try await fixture.add("/b")
            try await untilCurrent(fixture, reader)
            let (first, second) = (try await news(reader), try await news(reader))
            #expect(first.inserted.map(\.report.item.path.text) == ["/a"] && first.state != .idle)
            #expect(second.inserted.map(\.report.item.path.text) == ["/b"] && second.state == .idle)
        }
    }

    @Test("U2: a thousand changes between two reads give one change set")
    func together() async throws {
        try await running { fixture in
            for name in 0..<10 { try await fixture.add("/\(name)") }
            let reader = try fixture.reader(try query("/"))
            defer { reader.end() }
            var replay = Replay()
            try await replay.read(reader, until: (0..<10).map { "/\($0)" })
            let before = replay.told.count
            for size in 0..<1_000 {
                try await fixture.change("/\(size % 10)") { $0.size = Int64(size) }
            }
            try await fixture.add("/last")
            let position = try await untilCurrent(fixture, reader)
            replay.apply(try await news(reader))
            #expect(replay.told.count == before + 1)
            let set = try #require(replay.told.last)
            #expect(set.updated.count == 10 && set.inserted.map(\.report.item.path.text) == ["/last"])
            #expect(set.updated.map(\.report.item.size) == (990..<1_000).map { Int64($0) } && set.position == position)
        }
    }

    @Test("U2: what all readers of a query are told is read once, and not what one of them is told alone")
    func shared() async throws {
        try await running { fixture in
            try await fixture.add("/a")
            let readers = try (0..<3).map { _ in try fixture.reader(try query("/")) }
            defer { for reader in readers { reader.end() } }
            var replays = [Replay(), Replay(), Replay()]
            for index in readers.indices { try await replays[index].read(readers[index], until: ["/a"]) }
            try await fixture.add("/b")
            for reader in readers { try await untilCurrent(fixture, reader) }
            for index in 0..<2 { replays[index].apply(try await news(readers[index])) }
            let first = try #require(replays[0].told.last?.shared)
            #expect(replays[1].told.last?.shared === first)
            #expect(first.text { [1] } == [1] && first.text { [2] } == [1])
            // The third one missed that set, and is told both together.
            try await fixture.change("/a") { $0.size = 7 }
            for reader in readers { try await untilCurrent(fixture, reader) }
            for index in readers.indices { replays[index].apply(try await news(readers[index])) }
            let second = try #require(replays[0].told.last?.shared)
            #expect(second !== first && replays[1].told.last?.shared === second)
            #expect(replays[2].told.last?.shared == nil)
            #expect(replays.allSatisfy { $0.paths == ["/a", "/b"] })
            #expect(replays.allSatisfy { $0.told.last?.updated.first?.report.item.size == 7 })
            // Readers in other states are not told the same.
            let update = try #require(replays[0].told.last)
            let shared = SharedUpdate()
            #expect(shared.noted(update).shared === shared && shared.known(in: .idle)?.shared === shared)
            #expect(shared.known(in: .contentsFromCache) == nil)
            var other = update
            (other.state, other.shared) = (.contentsFromCache, nil)
            #expect(shared.noted(other).shared == nil)
        }
    }

    @Test("U11: a reader that misses more than is kept for it gets the list anew, and is told so")
    func tooSlow() async throws {
        try await running { fixture in
            try await fixture.add("/a")
            let reader = try fixture.reader(try query("/"))
            defer { reader.end() }
            var replay = Replay()
            try await replay.read(reader, until: ["/a"])
            let count = QueryBacklog.mostPending + 1
            try await fixture.database.write { tx in
                for number in 0..<count {
                    var item = fileItem("/n\(1_000_000 + number)")
                    item.fileID = FileID("\(number)")
                    _ = try tx.items.insert(item)
                }
            }
            try await untilCurrent(fixture, reader)
            // It misses as much again before it reads.
            try await fixture.database.write { tx in
                for number in 0..<count {
                    var item = fileItem("/o\(1_000_000 + number)")
                    item.fileID = FileID("o\(number)")
                    _ = try tx.items.insert(item)
                }
            }
            try await untilCurrent(fixture, reader)
            let wanted =
                ["/a"] + (0..<count).map { "/n\(1_000_000 + $0)" } + (0..<count).map { "/o\(1_000_000 + $0)" }
            let before = replay.told.count
            try await replay.read(reader, until: wanted)
            let parts = replay.told[before...]
            #expect(parts.first?.isAnew == true && parts.dropFirst().allSatisfy { !$0.isAnew })
            #expect(
                parts.allSatisfy { $0.inserted.count <= QueryBacklog.mostAtOnce }
                    && parts.dropLast().allSatisfy { $0.state != .idle })
        }
    }

    @Test(
        "U4: a folder that goes, alone or with one above it, empties its query and is told; the query lives when it comes"
    )
    func target() async throws {
        try await running { fixture in
            let reader = try fixture.reader(try query("/a/b"))
            defer { reader.end() }
            var replay = Replay()
            try await replay.read(reader, until: [], .targetRemoved)
            try await fixture.add("/a", kind: .folder)
            try await fixture.add("/a/b", kind: .folder)
            try await fixture.add("/a/b/c")
            try await replay.read(reader, until: ["/a/b/c"])
            try await fixture.database.write { tx in
                for path in ["/a/b/c", "/a/b", "/a"] {
                    var item = try #require(try tx.items.item(at: ItemPath(unchecked: path)))
                    item.removedAt = Timestamp(seconds: 3)
                    try tx.items.update(item)
                }
            }
            try await replay.read(reader, until: [], .targetRemoved)
            #expect(replay.told.last?.removed.first?.report.item.isRemoved == true)
            try await fixture.add("/a", kind: .folder)
            try await fixture.add("/a/b", kind: .folder)
            try await replay.read(reader, until: [])
        }
    }

    @Test("U16: one item is followed by its path, or by its id wherever it goes: known, missing, moved, gone and back")
    func tracking() async throws {
        try await running { fixture in
            let item = try await fixture.add("/a")
            let (byPath, byID) = (
                try fixture.reader(LiveQuery(.item(at: ItemPath(unchecked: "/a")))),
                try fixture.reader(LiveQuery(.itemWithID(item.localID)))
            )
            let deep = try fixture.reader(LiveQuery(.item(at: ItemPath(unchecked: "/no/such/item"))))
            defer { for reader in [byPath, byID, deep] { reader.end() } }
            var (path, id, missing) = (Replay(), Replay(), Replay())
            try await path.read(byPath, until: ["/a"])
            try await id.read(byID, until: ["/a"])
            try await missing.read(deep, until: [], .targetRemoved)
            try await fixture.change("/a") { $0.path = ItemPath(unchecked: "/b") }
            try await path.read(byPath, until: [], .targetRemoved)
            try await id.read(byID, until: ["/b"])
            #expect(id.told.last?.updated.count == 1)
            try await fixture.change("/b") { $0.removedAt = Timestamp(seconds: 1) }
            try await id.read(byID, until: [], .targetRemoved)
            try await fixture.add("/a")
            try await path.read(byPath, until: ["/a"])
            try await fixture.database.write { tx in
                var back = try #require(try tx.items.item(localID: item.localID))
                back.removedAt = nil
                try tx.items.update(back)
            }
            try await id.read(byID, until: ["/b"])
        }
    }

    @Test("U14: a condition with `now` changes a list by time alone, soon, and nothing that time leaves alone is told")
    func time() async throws {
        try await running { fixture in
            let now = fixture.clock.host.now()
            try await fixture.add("/old", used: now - .seconds(100))
            try await fixture.add("/new", used: now - .seconds(10))
            let reader = try fixture.reader(try query("/", "lastModified < now - duration('30s')"))
            defer { reader.end() }
            var replay = Replay()
            try await replay.read(reader, until: ["/old"])
            for _ in 0..<30 {
                await fixture.tick()
            }
            try await replay.read(reader, until: ["/new", "/old"])
            let last = try #require(replay.told.last)
            #expect(last.inserted.count == 1 && last.updated.isEmpty && last.removed.isEmpty && last.moved.isEmpty)
        }
    }

    @Test(
        "U15: policies, claims and shares change what a list shows, and which items it has, without a change of items")
    func derived() async throws {
        try await running { fixture in
            let item = try await fixture.add("/a")
            try await fixture.add("/b")
            let shown = try fixture.reader(try query("/"))
            let chosen = try fixture.reader(try query("/", "availableOffline != 'none' || claimed"))
            defer { for reader in [shown, chosen] { reader.end() } }
            var (all, some) = (Replay(), Replay())
            try await all.read(shown, until: ["/a", "/b"])
            try await some.read(chosen, until: [])
            let path = ItemPath(unchecked: "/b")
            try await fixture.database.write { tx in
                var policy = ItemPolicy(kind: .availableOffline, condition: Condition.at(orBelow: path).text)
                policy.path = path
                _ = try tx.policies.add(policy, by: .somebody)
            }
            await fixture.tick()
            try await some.read(chosen, until: ["/b"])
            while all.told.last?.updated.map(\.report.availableOffline) != [.direct] {
                all.apply(try await news(shown))
            }
            #expect(all.told.last?.updated.map(\.report.item.path) == [path])
            try await fixture.database.write { tx in
                try tx.claims.add(Claim(id: ClaimID("mine"), item: item.localID, kind: .read, validity: .explicit))
            }
            await fixture.tick()
            try await some.read(chosen, until: ["/a", "/b"])
            while all.told.last?.updated.map(\.report.isClaimed) != [true] { all.apply(try await news(shown)) }
            try await fixture.database.write { try $0.claims.remove(ClaimID("mine")) }
            await fixture.tick()
            try await some.read(chosen, until: ["/b"])
            try await fixture.database.write { tx in
                _ = try tx.records.put(Record(key: RecordKey("7"), value: #"{"path":"/a"}"#), in: .shares)
            }
            await fixture.tick()
            while all.told.last?.updated.map(\.report.shares) != [[RecordKey("7")]] {
                all.apply(try await news(shown))
            }
            #expect(all.paths == ["/a", "/b"] && all.told.last?.updated.map(\.report.item.localID) == [item.localID])
        }
    }

    @Test("U15: what policies changed while nobody read is shown to the next reader, and selects its items")
    func changedMeanwhile() async throws {
        try await running { fixture in
            try await fixture.add("/a")
            for filter in [[], ["availableOffline == 'direct'"]] {
                for isPinned in [true, false] {
                    var query = LiveQuery(.contents(of: .root))
                    query.filters = try filter.map { try ItemCondition(parsing: $0) }
                    let first = try fixture.reader(query)
                    _ = try await news(first)
                    first.end()
                    try await fixture.database.write { tx in
                        for old in try tx.policies.all(kind: .availableOffline) {
                            try tx.policies.remove(old.id, by: .somebody)
                        }
                        guard isPinned else { return }
                        let path = ItemPath(unchecked: "/a")
                        var policy = ItemPolicy(kind: .availableOffline, condition: Condition.at(orBelow: path).text)
                        policy.path = path
                        try tx.policies.add(policy, by: .somebody)
                    }
                    let second = try fixture.reader(query)
                    let told = try await news(second)
                    second.end()
                    let wanted: [AvailableOfflineLevel] = isPinned ? [.direct] : filter.isEmpty ? [.none] : []
                    #expect(told.inserted.map(\.report.availableOffline) == wanted, "\(filter) \(isPinned)")
                }
            }
        }
    }

    @Test("U10: an account has at most 1,024 readers, and reads nothing while it has none")
    func readers() async throws {
        try await running { fixture in
            var readers: [LiveQueryReader] = []
            for number in 0..<LiveQueries.mostReaders {
                var query = try query("/")
                query.limit = number % 3
                readers.append(try fixture.reader(query))
            }
            let refused = #expect(throws: Failure.self) { _ = try fixture.reader(LiveQuery(.contents(of: .root))) }
            #expect(refused?.kind == .vaultLocked)
            try await fixture.add("/a")
            for reader in [0, 1, 2].map({ readers[$0] }) {
                var replay = Replay()
                while replay.state != .idle { replay.apply(try await news(reader)) }
            }
            for reader in readers { reader.end() }
            let again = try fixture.reader(LiveQuery(.contents(of: .root)))
            again.end()
        }
    }
}
