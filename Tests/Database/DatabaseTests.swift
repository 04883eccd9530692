import GRDB
import Glibc
import Model
import Synchronization
import TestSupport
import Testing

@testable import Database

@Suite struct DatabaseTests {
    @Test("Each transaction that changes items raises the anchor by one, and the observer hears of all in order")
    func anchorsAndObserver() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let heard = Mutex<[CommitChanges]>([])
            database.setCommitObserver { summary in heard.withLock { $0.append(summary) } }
            let photos = try await database.write { tx in try tx.items.insert(folderItem("/Photos")) }
            try await database.write { tx in try tx.meta.set(MetaKey("x"), 1) }
            try await database.write { tx in
                let a = try tx.items.insert(fileItem("/Photos/a"))
                try tx.items.update(photos)
                try tx.items.delete(databaseID: a.databaseID)
                tx.notePoliciesChanged(runsTrigger: false)
            }
            try await database.write { tx in tx.noteRecordsChanged() }
            let summaries = heard.withLock { $0 }
            #expect(summaries.map(\.anchor) == [1, 2, 0])
            #expect(summaries[0].added == [photos.databaseID])
            #expect(summaries[1].updated == [photos.databaseID])
            #expect(summaries[1].added == summaries[1].removed)
            #expect(summaries[1].policiesChanged && !summaries[1].triggersPolicies)
            #expect(summaries[2].recordsChanged && !summaries[2].changesItems)
            #expect(try await database.read { try $0.items.item(at: photos.path)?.anchor } == 2)
        }
    }

    @Test("H18: the connections that read are closed when nothing was read between two looks, and opened again")
    func unused() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            try await database.write { tx in _ = try tx.items.insert(fileItem("/a")) }
            let readAll = {
                let gate = Gate()
                let reads = (0..<Database.readers).map { _ in
                    Task { try await database.read { _ in gate.passOnThread() } }
                }
                await gate.untilReached(times: Database.readers)
                try ReadSession(database).close()
                gate.open()
                for read in reads { try await read.value }
            }
            // The log is open once for each connection.
            let connections = { try descriptors(of: folder + "/larder.db-wal") }
            try await readAll()
            #expect(try connections() == Database.readers + 2)
            #expect(try !database.isUnused() && connections() == Database.readers + 2)
            try await readAll()
            #expect(await !database.closeUnused())
            #expect(try connections() == Database.readers + 2)
            #expect(!database.isUnused() && database.isUnused())
            #expect(await database.closeUnused())
            #expect(!database.isUnused())
            #expect(await !database.closeUnused())
            await until { (try? connections()) == 1 }
            #expect(try await database.read { try $0.items.item(at: ItemPath("/a")) } != nil)
            #expect(try connections() == 2)
            #expect(try await database.readOnce { try $0.items.item(at: ItemPath("/a")) } != nil)
            #expect(try connections() == 2)
            await database.closeIdle()
            await until { (try? connections()) == 1 }
            #expect(try await database.readOnce { try $0.items.item(at: ItemPath("/a")) } != nil)
            await until { (try? connections()) == 1 }
            try database.close()
        }
    }

    private func descriptors(of path: String) throws -> Int {
        try Files.names(in: "/proc/self/fd").count { name in
            var target = [CChar](repeating: 0, count: 4096)
            let size = readlink("/proc/self/fd/\(name)", &target, target.count - 1)
            return size > 0 && String(decoding: target.prefix(size).map(UInt8.init(bitPattern:)), as: UTF8.self) == path
        }
    }

    @Test("A read whose task is cancelled ends well or with that, whatever the interrupted statement says")
    func cancelledRead() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let choice = Issue.Choice(id: "retry", label: "Again", impact: .nonDestructive)
            try database.writeBlocking { tx in
                for number in 0..<300 {
                    try tx.issues.file(
                        Issue(
                            code: "x", subject: "\(number)", message: "", choices: [choice, choice],
                            created: Timestamp(seconds: 0)))
                }
            }
            var cancelled = 0
            for index in 0..<30 {
                let (isReading, isOver) = (Flag(), Flag())
                let read = Task { [database] in
                    try await database.read { reads in
                        isReading.value.store(true, ordering: .relaxed)
                        // An interruption between two statements interrupts nothing.
                        while !isOver.value.load(ordering: .relaxed) { _ = try reads.issues.all(code: "x") }
                    }
                }
                await until { isReading.value.load(ordering: .relaxed) }
                // The cancellation comes at a different moment of the statement in each round.
                for _ in 0..<index { await Task.yield() }
                read.cancel()
                isOver.value.store(true, ordering: .relaxed)
                do { try await read.value } catch is CancellationError { cancelled += 1 }
            }
            #expect(cancelled > 0)
            try database.close()
        }
    }

    @Test("A write whose task is cancelled in a statement ends with that, and has written nothing")
    func cancelledWrite() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let isWriting = Flag()
            let write = Task { [database] in
                try await database.write { tx in
                    try tx.items.insert(fileItem("/a"))
                    isWriting.value.store(true, ordering: .relaxed)
                    let endless =
                        "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
                    _ = try RawStatement(tx.db, endless).step()
                }
            }
            await until { isWriting.value.load(ordering: .relaxed) }
            // The write may or may not have reached the statement.
            for _ in 0..<1000 { await Task.yield() }
            write.cancel()
            await #expect(throws: CancellationError.self) { try await write.value }
            #expect(try await database.read { try $0.items.item(at: ItemPath(unchecked: "/a")) } == nil)
            try database.close()
        }
    }

    @Test("A transaction that throws has written nothing, raised nothing and told nobody")
    func rollback() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let heard = Mutex(0)
            database.setCommitObserver { _ in heard.withLock { $0 += 1 } }
            await #expect(throws: CancellationError.self) {
                try await database.write { tx in
                    try tx.items.insert(fileItem("/a"))
                    throw CancellationError()
                }
            }
            #expect(try await database.read { try $0.items.item(at: ItemPath(unchecked: "/a")) } == nil)
            #expect(try await database.read { try $0.meta.integer(.anchor) } == nil)
            #expect(heard.withLock { $0 } == 0)
        }
    }

    @Test("Writes that come while another is under way share a transaction, in their order; one that throws is alone")
    func together() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let heard = Mutex<[CommitChanges]>([])
            database.setCommitObserver { summary in heard.withLock { $0.append(summary) } }
            let (isWriting, isOver) = (Flag(), Flag())
            let runs = Count()
            let first = Task { [database] in
                try await database.write { _ in
                    isWriting.value.store(true, ordering: .relaxed)
                    while !isOver.value.load(ordering: .relaxed) { usleep(100) }
                }
            }
            await until { isWriting.value.load(ordering: .relaxed) }
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do {
                            return try await database.writeTogether { tx in
                                runs.value.add(1, ordering: .relaxed)
                                try tx.items.insert(fileItem("/\(number)"))
                                if number == 20 { throw CancellationError() }
                                return number
                            }
                        } catch is CancellationError {
                            return nil
                        }
                    }
                    await until { database.shared.count == number + 1 }
                }
                isOver.value.store(true, ordering: .relaxed)
                var results: [Int] = []
                for try await result in group { if let result { results.append(result) } }
                #expect(results.sorted() == (0..<50).filter { $0 != 20 })
            }
            try await first.value
            // What a body does beside its writes is done once.
            #expect(runs.value.load(ordering: .relaxed) == 50)
            #expect(try await database.read { try $0.items.item(at: ItemPath(unchecked: "/20")) } == nil)
            #expect(try await database.read { try $0.items.item(at: ItemPath(unchecked: "/49")) } != nil)
            #expect(heard.withLock { $0.flatMap(\.added).count } == 49)
            let ids = try await database.read { reads in
                try (0..<50).compactMap { try reads.items.item(at: ItemPath(unchecked: "/\($0)"))?.databaseID.number }
            }
            #expect(ids.count == 49 && ids == ids.sorted())

            let (writes, again, isOn) = (database.writes, Flag(), Flag())
            let blocker = Task { [database] in
                try await database.write { _ in
                    isOn.value.store(true, ordering: .relaxed)
                    while !again.value.load(ordering: .relaxed) { usleep(100) }
                }
            }
            await until { isOn.value.load(ordering: .relaxed) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 50..<100 {
                    group.addTask {
                        try await database.writeTogether { tx in _ = try tx.items.insert(fileItem("/\(number)")) }
                    }
                }
                await until { database.shared.count == 50 }
                again.value.store(true, ordering: .relaxed)
                try await group.waitForAll()
            }
            try await blocker.value
            #expect(database.writes == writes + 2)
            try database.close()
        }
    }

    @Test("If there is no room for a transaction that many share, all of them learn of it, and none is written")
    func togetherWithoutRoom() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            func setRoom(_ pages: Int) async throws {
                try await database.write { tx in
                    let statement = try RawStatement(tx.db, "PRAGMA max_page_count = \(pages)", isCached: false)
                    _ = try statement.step()
                    statement.reset()
                }
            }
            try await setRoom(1)
            let (isWriting, isOver) = (Flag(), Flag())
            let runs = Count()
            let first = Task { [database] in
                try await database.write { _ in
                    isWriting.value.store(true, ordering: .relaxed)
                    while !isOver.value.load(ordering: .relaxed) { usleep(100) }
                }
            }
            await until { isWriting.value.load(ordering: .relaxed) }
            let name = String(repeating: "n", count: 200)
            let failures = await withTaskGroup(of: Failure.Kind?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do {
                            try await database.writeTogether { tx in
                                runs.value.add(1, ordering: .relaxed)
                                for part in 0..<20 { _ = try tx.items.insert(fileItem("/\(number)/\(part)\(name)")) }
                            }
                            return nil
                        } catch {
                            return (error as? Failure)?.kind
                        }
                    }
                }
                await until { database.shared.count == 50 }
                isOver.value.store(true, ordering: .relaxed)
                var failures: [Failure.Kind?] = []
                for await failure in group { failures.append(failure) }
                return failures
            }
            try await first.value
            #expect(failures == Array(repeating: .localIO, count: 50))
            #expect(runs.value.load(ordering: .relaxed) <= 50)
            try await setRoom(1 << 30)
            let written = try await database.read { reads in
                try (0..<50).contains { try reads.items.item(at: ItemPath(unchecked: "/\($0)/0\(name)")) != nil }
            }
            #expect(!written)
            try await database.writeTogether { tx in _ = try tx.items.insert(fileItem("/later")) }
            #expect(try await database.read { try $0.items.item(at: ItemPath(unchecked: "/later")) } != nil)
            try database.close()
        }
    }

    @Test("The thousandth commit calls its observer as the first did")
    func observerDepth() throws {
        try withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            // A function that gets longer with each call needs more of the stack.
            let depths = Mutex<[Int]>([])
            var here = 0
            let base = withUnsafePointer(to: &here) { Int(bitPattern: $0) }
            database.setCommitObserver { _ in
                var there = 0
                let depth = base - withUnsafePointer(to: &there) { Int(bitPattern: $0) }
                depths.withLock { $0.append(depth) }
            }
            for _ in 0..<1_000 { try database.writeBlocking { tx in tx.noteRecordsChanged() } }
            let all = depths.withLock { $0 }
            #expect(all.count == 1_000 && abs((all.last ?? 0) - all[0]) < 1_000)
        }
    }

    @Test("A commit is on the disk, the log is cut, and the file is its owner's alone")
    func settings() throws {
        try withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            try database.writeBlocking { (tx) throws in
                #expect(try String.fetchOne(tx.db, sql: "PRAGMA journal_mode") == "wal")
                #expect(try Int.fetchOne(tx.db, sql: "PRAGMA synchronous") == 2)
                #expect(try Int.fetchOne(tx.db, sql: "PRAGMA journal_size_limit") == 16 << 20)
            }
            for suffix in ["", "-wal", "-shm"] {
                var info = stat()
                #expect(stat(folder + "/larder.db" + suffix, &info) == 0)
                #expect(info.st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test("A long log is copied into the database at the end, and a short one left for the next start")
    func closing() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            func size(_ path: String) -> Int64 {
                var info = stat()
                return stat(path, &info) == 0 ? Int64(info.st_size) : 0
            }
            for (bytes, isCopied) in [(10_000, false), (2_000_000, true)] {
                let database = try Database.open(path: path)
                try database.writeBlocking { tx in
                    try tx.meta.set(MetaKey("long"), String(repeating: "x", count: bytes))
                }
                // Closing the database also closes the connections for reading.
                #expect(try database.readBlocking { try $0.items.knownCount() } == 0)
                try database.close()
                #expect((size(path + "-wal") == 0) == isCopied)
                #expect((size(path) > bytes) == isCopied)
            }
            let database = try Database.open(path: path, readOnly: true)
            #expect(try database.readBlocking { try $0.items.knownCount() } == 0)
            try database.close()
        }
    }

    @Test("A value that is set again writes nothing")
    func sameValue() throws {
        try withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            func set(_ value: String?) throws -> Int64 {
                let key = MetaKey("value")
                try database.writeBlocking { tx in
                    if let value { try tx.meta.set(key, value) } else { try tx.meta.clear(key) }
                }
                var info = stat()
                try #require(stat(folder + "/larder.db-wal", &info) == 0)
                return Int64(info.st_size)
            }
            let first = try set("a")
            #expect(try set("a") == first)
            let second = try set("b")
            #expect(second > first)
            #expect(try database.readBlocking { try $0.meta.text(MetaKey("value")) } == "b")
            let third = try set(nil)
            #expect(try third > second && set(nil) == third)
        }
    }

    @Test("V4: an older database is upgraded in one transaction; a failing upgrade leaves it as it was")
    func upgrade() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            let queue = try DatabaseQueue(path: path)
            let first = "CREATE TABLE a (x); INSERT INTO a VALUES (7);"
            try queue.writeWithoutTransaction { db in
                try Migrations.run(db, at: path, migrations: [first])
                let broken = [first, "ALTER TABLE a ADD COLUMN y", "no SQL at all"]
                #expect(throws: (any Error).self) { try Migrations.run(db, at: path, migrations: broken) }
                #expect(try db.columns(in: "a").count == 1)
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 1)
                try Migrations.run(db, at: path, migrations: [first, "ALTER TABLE a ADD COLUMN y DEFAULT 3"])
                #expect(try Int.fetchOne(db, sql: "SELECT x + y FROM a") == 10)
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 2)
            }
        }
    }

    @Test("V4: a database of a newer Larder is refused and left alone")
    func newer() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            try Database.open(path: path).close()
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 99") }
            try queue.close()
            let before = try Files.read(path)
            for readOnly in [false, true] {
                let failure = #expect(throws: Failure.self) { try Database.open(path: path, readOnly: readOnly) }
                #expect(failure?.kind == .localIO)
                #expect(failure?.message.contains("newer Larder") == true)
            }
            #expect(try Files.read(path) == before)
        }
    }

    @Test("V4: a database whose making was cut short by a crash is taken up by the next start")
    func cutShort() throws {
        try withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: folder + "/making.db")
            try queue.writeWithoutTransaction { db in
                // SQLite writes pages to the file before the transaction ends.
                try db.execute(sql: "PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE a (x)")
                for _ in 0..<50 { try db.execute(sql: "INSERT INTO a VALUES (randomblob(10000))") }
                for suffix in ["", "-journal"] {
                    try Files.write(
                        try Files.read(folder + "/making.db" + suffix), to: folder + "/larder.db" + suffix)
                }
                try db.execute(sql: "ROLLBACK")
            }
            let database = try Database.open(path: folder + "/larder.db")
            #expect(try database.readBlocking { try $0.items.counts().items } == 0)
            try database.close()
        }
    }

    @Test("A reading command sees what a host wrote, beside it and after it, and cannot write")
    func readOnly() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            #expect(throws: Failure.self) { try Database.open(path: path, readOnly: true) }
            #expect(!Files.exists(path))
            let host = try Database.open(path: path)
            try await host.write { tx in _ = try tx.items.insert(fileItem("/a")) }
            let beside = try Database.open(path: path, readOnly: true)
            #expect(try await beside.read { try $0.items.counts().items } == 1)
            await #expect(throws: Failure.self) { try await beside.write { tx in try tx.items.insert(fileItem("/b")) } }
            try beside.close()
            try host.close()
            let after = try Database.open(path: path, readOnly: true)
            #expect(try await after.read { try $0.items.counts().items } == 1)
        }
    }

    @Test("To a reading command, a database that a host has only begun to make is none")
    func begun() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            try Files.write("", to: path)
            let empty = #expect(throws: Failure.self) { try Database.open(path: path, readOnly: true) }
            #expect(empty?.kind == .notFound && empty?.hint == .runFirst)
            // A pool sets the journal's mode before the schema is committed.
            let pool = try DatabasePool(path: path)
            let begun = #expect(throws: Failure.self) { try Database.open(path: path, readOnly: true) }
            #expect(begun?.kind == .notFound && begun?.hint == .runFirst)
            try pool.close()
            try Database.open(path: path).close()
            try Database.open(path: path, readOnly: true).close()
        }
    }

    @Test("A damaged database, a folder in its place, and no rights: each says what to do")
    func damaged() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            try Files.write(String(repeating: "not a database ", count: 500), to: path)
            let failure = #expect(throws: Failure.self) { try Database.open(path: path) }
            #expect(failure?.kind == .localIO)
            #expect(failure?.hint == .restoreDatabase)
            try Files.makeFolder(folder + "/other.db")
            #expect(throws: Failure.self) { try Database.open(path: folder + "/other.db") }
            let missing = #expect(throws: Failure.self) { try Database.open(path: folder + "/no/larder.db") }
            #expect(missing?.kind == .cannotCreate)
        }
    }

    @Test("A database that may not be read is one that cannot be read, not one that cannot be made")
    func forbidden() throws {
        typealias SetUser = @convention(c) (UInt32) -> Int32
        let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            try Database.open(path: path).close()
            try #require(chmod(path, 0) == 0)
            // The change of user applies to this thread alone. It is needed if the thread runs as root, which may read
            // everything.
            let user = setUser(65_534)
            defer { _ = setUser(UInt32(bitPattern: user)) }
            let failure = #expect(throws: Failure.self) { try Database.open(path: path, readOnly: true) }
            #expect(failure?.kind == .localIO)
        }
    }
}

private final class Flag: Sendable {
    let value = Atomic<Bool>(false)
}

private final class Count: Sendable {
    let value = Atomic<Int>(0)
}
