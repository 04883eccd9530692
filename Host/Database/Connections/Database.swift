import GRDB
import Glibc
public import Model
import Synchronization
import Threads

/// A vault's database: the account's items, the policies, and the sync engine's journal.
///
/// One connection writes, and several connections read beside it (SQLite's write-ahead log). All writes go through
/// ``write(_:)`` or ``writeBlocking(_:)``, one transaction at a time, in the order of the calls, or through
/// ``writeTogether(_:)``, which may join a transaction that was called for before.
public final class Database: Sendable {
    /// The absolute path of the database file.
    public let path: String
    private let pool: DatabasePool
    let idleConnection = IdleConnection()
    private let committed = Atomic(0)
    /// What was read since ``isUnused()`` was called.
    enum Use: UInt8, AtomicRepresentable { case read, unread, closed }
    let use = Atomic(Use.read)
    private let observer = Mutex<Observer?>(nil)
    let shared = SharedCommits()

    /// The function that hears of commits. A function that a generic type holds itself is wrapped once more each time it
    /// is taken out and put back, so that each commit would take longer than the one before.
    private struct Observer {
        var call: @Sendable (CommitChanges) -> Void
    }

    private init(path: String, pool: DatabasePool) {
        self.path = path
        self.pool = pool
    }

    /// Opens the database, creates it if there is none, and brings an older database up to this build's schema in one
    /// transaction.
    ///
    /// The function blocks until the schema is current.
    /// - Parameters:
    ///   - readOnly: Whether the database is opened for a command that runs beside a host. Nothing is created or
    ///     upgraded then, and a write fails.
    ///   - keep: A function that is called before the schema changes, with the number of the schema that the file has.
    /// - Throws: `.localIO` if the database cannot be opened, is damaged, or was written by a newer Larder, or, with
    ///   `readOnly`, by an older one; `.notFound` if there is no database, or one without a schema, and `readOnly` is
    ///   set; `.cannotCreate` if its folder does not exist, or this user may not write to the folder or the file;
    ///   `.vaultLocked` if another program has the database locked; what `keep` throws.
    public static func open(
        path: String, readOnly: Bool = false, keepingBefore keep: (_ schema: Int) throws -> Void = { _ in }
    ) throws(Failure) -> Database {
        try prepareFile(path, readOnly: readOnly)
        do {
            var configuration = Configuration()
            configuration.readonly = readOnly
            // Nobody else writes to the database of a locked vault. Readers in other processes block it only for
            // moments, when they recover or remove a log.
            configuration.busyMode = .timeout(10)
            // Each connection has a page cache of its own, 2 MB by SQLite's default. Few connections keep memory small.
            // A reading connection reads a few rows, or all rows once.
            configuration.maximumReaderCount = readers
            configuration.prepareDatabase { db in
                if db.configuration.readonly { try db.execute(sql: "PRAGMA cache_size = -\(readersCacheKiB)") }
            }
            // A reader's SQL may come from a condition's text. A name in double quotes is always a name, never text.
            configuration.acceptsDoubleQuotedStringLiterals = false
            configuration.label = "larder.db"
            let version = try checkVersion(path, exactly: readOnly)
            if !readOnly, version > 0, version < Migrations.all.count { try keep(version) }
            // A process that was killed while it copied a state has left the copy.
            if !readOnly { unlink(ReadSession.pathOfCopy(beside: path)) }
            let pool = try DatabasePool(path: path, configuration: configuration)
            if !readOnly {
                try pool.writeWithoutTransaction { db in
                    // A commit is on the disk when the call returns, so that an action is durable before its first
                    // request is sent. GRDB sets NORMAL, which survives a crash of the process, but not a power cut.
                    try db.execute(sql: "PRAGMA synchronous = FULL")
                    // A first scan and its downloads change the same pages again and again. SQLite copies pages into
                    // the database every 16 MB instead of every 4 MB, so that most of these pages are copied once.
                    try db.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
                    // A long read, such as a plugin's run, makes the log grow while others write. Afterwards the log is
                    // cut to this size.
                    try db.execute(sql: "PRAGMA journal_size_limit = 16777216")
                    try Migrations.run(db, at: path)
                    try db.execute(sql: NotedChangeTriggers.sql)
                }
            }
            return Database(path: path, pool: pool)
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Makes sure that the vault is where the database was opened, before something is made there by its path. Where its
    /// disk was unmounted, that would be made in the mount point. Blocks.
    /// - Parameter path: The database's ``path``.
    /// - Throws: `.localIO` if the database's file is not there any more.
    public static func checkPlace(of path: String) throws(Failure) {
        guard access(path, F_OK) != 0 else { return }
        throw Failure(
            .localIO, "The vault with \(path) was moved, removed or unmounted",
            hint: "Put it back or mount it where it was")
    }

    /// The largest number of connections that read at once.
    static let readers = 1

    /// The size of a reading connection's page cache, in KiB.
    static let readersCacheKiB = 512

    /// Sets the function that is called after each commit that noted a change, in the order of the commits.
    ///
    /// The function is called on the writer's thread. It must return at once and must not wait for the database.
    public func setCommitObserver(_ observe: @escaping @Sendable (CommitChanges) -> Void) {
        observer.withLock { $0 = Observer(call: observe) }
    }

    /// The number of transactions that were committed since the database was opened.
    public var writes: Int { committed.load(ordering: .acquiring) }

    /// Reads a state of the database that no later write changes, beside the writer and other readers.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`; `CancellationError` when the task is cancelled.
    public func read<T: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> T) async throws -> T {
        if Workplace.single != nil {
            try Task.checkCancellation()
            return try readBlocking(body)
        }
        use.store(.read, ordering: .relaxed)
        do {
            return try await pool.read { db in try body(ReadTransaction(db: db)) }
        } catch {
            throw interrupted(error)
        }
    }

    /// Reads like ``read(_:)``, for a read after which others are not likely soon: connections that were closed are closed
    /// again.
    /// - Throws: As ``read(_:)``.
    public func readOnce<T: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> T) async throws -> T {
        let wereClosed = use.load(ordering: .relaxed) == .closed
        let result: Result<T, any Error>
        do { result = .success(try await read(body)) } catch { result = .failure(error) }
        if wereClosed { await closeIdle() }
        return try result.get()
    }

    /// Reads like ``read(_:)``, on a thread that may block.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`.
    public func readBlocking<T>(_ body: (ReadTransaction) throws -> T) throws -> T {
        use.store(.read, ordering: .relaxed)
        do {
            return try pool.read { db in try body(ReadTransaction(db: db)) }
        } catch {
            throw translated(error)
        }
    }

    /// Runs `body` in a transaction. When the function returns, the changes are on the disk. If `body` throws, nothing
    /// is written.
    ///
    /// If the task is cancelled before the commit, nothing is written.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`; `CancellationError` when the task is cancelled.
    public func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        if Workplace.single != nil {
            try Task.checkCancellation()
            return try writeBlocking(body)
        }
        do {
            return try await pool.writeWithoutTransaction { db in try self.commit(db, body) }
        } catch {
            throw interrupted(error)
        }
    }

    /// Writes like ``write(_:)``, but many calls that come at once share one transaction, in the order of the calls, and
    /// wait for the disk together. The task's cancellation has no effect.
    /// - Parameter body: The body. If it throws, nothing of it is written, and the others are not concerned.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`. If the transaction fails, so that nothing is written,
    ///   all calls throw its error.
    public func writeTogether<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        if Workplace.single != nil { return try writeBlocking(body) }
        return try await withCheckedThrowingContinuation { task in
            let entry = SharedCommits.Entry(
                run: { tx in
                    let result = try body(tx)
                    return { task.resume(returning: result) }
                }, fail: { [self] error in task.resume(throwing: translated(error)) })
            guard shared.add(entry) else { return }
            pool.asyncWriteWithoutTransaction { [self] db in commit(shared.take(), db) }
        }
    }

    private func commit(_ entries: [SharedCommits.Entry], _ db: GRDB.Database) {
        var (resumes, refused): ([@Sendable () -> Void], [(SharedCommits.Entry, any Error)]) = ([], [])
        do {
            try commit(db) { tx in
                for entry in entries {
                    guard entries.count > 1 else {
                        resumes.append(try entry.run(tx))
                        break
                    }
                    do { resumes.append(try tx.alone { try entry.run(tx) }) } catch let error as Transaction.Broken {
                        throw error.reason
                    } catch {
                        refused.append((entry, error))
                    }
                }
            }
            for resume in resumes { resume() }
            for (entry, error) in refused { entry.fail(error) }
        } catch {
            for entry in entries { entry.fail(error) }
        }
    }

    /// Writes like ``write(_:)``, on a thread that may block, such as a plugin's.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`.
    public func writeBlocking<T>(_ body: (Transaction) throws -> T) throws -> T {
        do {
            return try pool.writeWithoutTransaction { db in try commit(db, body) }
        } catch {
            throw translated(error)
        }
    }

    /// Tells whether nothing was read since the last call, so that ``closeUnused()`` closes something. It may be called
    /// at any time, also while the database is being closed.
    public func isUnused() -> Bool {
        use.compareExchange(expected: .read, desired: .unread, ordering: .relaxed).original == .unread
    }

    /// Closes the connections that read, which are opened again when they are needed, if nothing was read between two
    /// calls of ``isUnused()``, and since. A host with many accounts holds few descriptors and little memory for those at
    /// rest. A read that begins meanwhile keeps its connection.
    /// - Returns: Whether connections are closed now that were open.
    public func closeUnused() async -> Bool {
        guard use.compareExchange(expected: .unread, desired: .closed, ordering: .relaxed).exchanged else {
            return false
        }
        await closeIdle()
        return true
    }

    /// Closes the connections that read, but for those that read now. They are opened again when they are needed. Returns
    /// when the connection that writes has given back its memory too, so that few of many databases do so at once.
    public func closeIdle() async {
        use.store(.closed, ordering: .relaxed)
        idleConnection.close()
        pool.releaseMemoryEventually()
        // This fails only if the task is cancelled, which need not wait then.
        try? await pool.writeWithoutTransaction { _ in }
    }

    /// Closes all connections, and drops the observer of commits. No access may be under way or follow.
    /// - Throws: `.vaultLocked` if a statement has outlived its access, so that SQLite cannot close its connection.
    public func close() throws(Failure) {
        idleConnection.close()
        // The observer may hold what holds the database. Neither would ever be freed.
        observer.withLock { $0 = nil }
        // SQLite copies the log into the database when the last connection is closed, if that connection may write. The
        // next start has to read a remaining log from beginning to end. For a short log, that read costs less than the
        // copy here, which waits for the disk.
        if !pool.configuration.readonly, logSize > Self.longestLogKept { pool.invalidateReadOnlyConnections() }
        do { try pool.close() } catch { throw SQLiteFailure.failure(for: error, database: path) }
    }

    /// The size of the longest log that is left for the next start, in bytes.
    static let longestLogKept = 1 << 20

    /// The size of the log, in bytes, up to which a session that writes meanwhile keeps its state in the log. A copy of
    /// the state is made for a longer log.
    public static let longestPinnedLog = 32 << 20

    /// The size of the write-ahead log, in bytes.
    public var logSize: Int {
        var info = stat()
        return stat("\(path)-wal", &info) == 0 ? Int(info.st_size) : 0
    }

    private func commit<T>(_ db: GRDB.Database, _ body: (Transaction) throws -> T) throws -> T {
        let transaction = Transaction(db: db)
        var result: T?
        try db.inTransaction(.immediate) {
            result = try body(transaction)
            try transaction.storeNotes()
            return .commit
        }
        committed.add(1, ordering: .releasing)
        if let changes = transaction.changes, let observer = observer.withLock({ $0 }) { observer.call(changes) }
        guard let result else { throw Failure(.internal, "A transaction ended without a result") }
        return result
    }

    /// Translates an error of a task that may be cancelled. An interrupted statement may fail with another error than
    /// that of an interruption.
    private func interrupted(_ error: any Error) -> any Error {
        error is DatabaseError && Task.isCancelled ? CancellationError() : translated(error)
    }

    private func translated(_ error: any Error) -> any Error {
        error is DatabaseError ? SQLiteFailure.failure(for: error, database: path) : error
    }

    /// Checks the schema's version before anything is written, since opening a pool already writes to the file.
    private static func checkVersion(_ path: String, exactly: Bool) throws -> Int {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        do {
            return try checkVersion(path, exactly: exactly, configuration)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY && !exactly {
            // A process that ended while it created the database left a transaction, which must be rolled back first.
            configuration.readonly = false
            return try checkVersion(path, exactly: exactly, configuration)
        }
    }

    private static func checkVersion(_ path: String, exactly: Bool, _ configuration: Configuration) throws -> Int {
        let connection = try DatabaseQueue(path: path, configuration: configuration)
        let version = try connection.read { try Migrations.check($0, at: path, exactly: exactly) }
        try connection.close()
        return version
    }

    /// Creates the file for its owner alone. SQLite would make the file and its log readable for others within the
    /// umask.
    private static func prepareFile(_ path: String, readOnly: Bool) throws(Failure) {
        let file = Glibc.open(path, readOnly ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let code = errno
            if readOnly, code == ENOENT {
                throw Failure(
                    .notFound, "Nothing is known of the account yet: \(path) does not exist",
                    hint: .runFirst)
            }
            throw Failure(
                !readOnly && (code == ENOENT || code == EACCES) ? .cannotCreate : .localIO,
                "The database \(path) cannot be opened: \(String(cString: strerror(code)))",
                hint: "Check that the folder exists and belongs to the user that Larder runs as")
        }
        Glibc.close(file)
    }
}
