import GRDB
import Glibc
public import Model
import Synchronization
import Threads

/// A vault's database: everything that is known of the account's items, the policies, and the sync engine's journal.
///
/// One connection writes, several read beside it (SQLite's write-ahead log). All writes go through ``write(_:)`` or
/// ``writeBlocking(_:)``, one transaction at a time, in the order of the calls.
public final class Database: Sendable {
    /// Where the file is, absolute.
    public let path: String
    private let pool: DatabasePool
    let idleConnection = IdleConnection()
    private let observer = Mutex<(@Sendable (CommitChanges) -> Void)?>(nil)

    private init(path: String, pool: DatabasePool) {
        self.path = path
        self.pool = pool
    }

    /// Opens the database, makes it if there is none, and brings an older one up to this build's schema in one transaction.
    ///
    /// It blocks for as long as that takes.
    /// - Parameters:
    ///   - readOnly: For commands that run beside a host: nothing is made or upgraded, and a write fails.
    ///   - keep: Called before the schema changes, with the number that it has.
    /// - Throws: `.localIO` if it cannot be opened, is damaged, or was written by a newer Larder, or, with `readOnly`, by
    ///   an older one; `.notFound` if there is none and `readOnly` is set; `.cannotCreate` if its folder is not there, or
    ///   it is not this user's to write; `.vaultLocked` if another program has it locked; what `keep` throws.
    public static func open(
        path: String, readOnly: Bool = false, keepingBefore keep: (_ schema: Int) throws -> Void = { _ in }
    ) throws(Failure) -> Database {
        try prepareFile(path, readOnly: readOnly)
        do {
            var configuration = Configuration()
            configuration.readonly = readOnly
            // Nobody else writes to a vault that is locked; readers of other processes hold the database up for moments only,
            // when a log is recovered or taken away.
            configuration.busyMode = .timeout(10)
            // Each connection keeps pages of its own, 2 MB by SQLite's default: few connections keep memory small, and those that
            // read look up a few rows, or walk over all once.
            configuration.maximumReaderCount = 3
            configuration.prepareDatabase { db in
                if db.configuration.readonly { try db.execute(sql: "PRAGMA cache_size = -\(readersCacheKiB)") }
            }
            // A reader's SQL may come from a condition's text: names in double quotes are names, never text.
            configuration.acceptsDoubleQuotedStringLiterals = false
            configuration.label = "larder.db"
            let version = try checkVersion(path, exactly: readOnly)
            if !readOnly, version > 0, version < Migrations.all.count { try keep(version) }
            let pool = try DatabasePool(path: path, configuration: configuration)
            if !readOnly {
                try pool.writeWithoutTransaction { db in
                    // A commit is on the disk when it returns: an action is durable before its first request goes out. GRDB
                    // has set NORMAL, which is safe against a crash of the process, not against a power cut.
                    try db.execute(sql: "PRAGMA synchronous = FULL")
                    // The pages of a first scan and its downloads change again and again: copied into the database every 16 MB
                    // instead of every 4, most of them are copied once.
                    try db.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
                    // A long read, such as a plugin's run, makes the log grow while others write; afterwards it is cut to this.
                    try db.execute(sql: "PRAGMA journal_size_limit = 16777216")
                    try Migrations.run(db, at: path)
                }
            }
            return Database(path: path, pool: pool)
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Pages that a reading connection keeps.
    static let readersCacheKiB = 512

    /// What is called after each commit that noted something, in the order of the commits. It is called on the writer's
    /// thread: it must return at once and not wait for the database.
    public func setCommitObserver(_ observe: @escaping @Sendable (CommitChanges) -> Void) {
        observer.withLock { $0 = observe }
    }

    /// Reads a state of the database that no later write changes, beside writers and other readers.
    /// - Throws: what `body` throws; SQLite's errors as `Failure`; `CancellationError` when the task is cancelled.
    public func read<T: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> T) async throws -> T {
        if Workplace.single != nil {
            try Task.checkCancellation()
            return try readBlocking(body)
        }
        do {
            return try await pool.read { db in try body(ReadTransaction(db: db)) }
        } catch {
            throw interrupted(error)
        }
    }

    /// Like ``read(_:)``, on a thread that may block.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`.
    public func readBlocking<T>(_ body: (ReadTransaction) throws -> T) throws -> T {
        do {
            return try pool.read { db in try body(ReadTransaction(db: db)) }
        } catch {
            throw translated(error)
        }
    }

    /// Runs `body` in a transaction: when this returns, what it wrote is on the disk; if it throws, nothing was written.
    ///
    /// When the task is cancelled before the commit, nothing is written.
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

    /// Like ``write(_:)``, on a thread that may block, such as a plugin's.
    /// - Throws: What `body` throws; SQLite's errors as `Failure`.
    public func writeBlocking<T>(_ body: (Transaction) throws -> T) throws -> T {
        do {
            return try pool.writeWithoutTransaction { db in try commit(db, body) }
        } catch {
            throw translated(error)
        }
    }

    /// Closes all connections. No access may be under way or follow.
    /// - Throws: `.vaultLocked` if a statement has outlived its access, so that SQLite cannot close its connection.
    public func close() throws(Failure) {
        idleConnection.close()
        // SQLite copies the log into the database when the last connection is closed, if that one may write. The next start has
        // to read a log from beginning to end: a short one costs less there than its copying here, with what it waits for the disk.
        if !pool.configuration.readonly, logSize > Self.longestLogKept { pool.invalidateReadOnlyConnections() }
        do { try pool.close() } catch { throw SQLiteFailure.failure(for: error, database: path) }
    }

    /// The bytes of a log that is left for the next start.
    static let longestLogKept = 1 << 20

    /// How long the write-ahead log is, in bytes.
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
        if let changes = transaction.changes, let observe = observer.withLock({ $0 }) { observe(changes) }
        guard let result else { throw Failure(.internal, "A transaction ended without a result") }
        return result
    }

    /// An error of a task that may be cancelled: a statement that is interrupted may fail in other words than those of an
    /// interruption.
    private func interrupted(_ error: any Error) -> any Error {
        error is DatabaseError && Task.isCancelled ? CancellationError() : translated(error)
    }

    private func translated(_ error: any Error) -> any Error {
        error is DatabaseError ? SQLiteFailure.failure(for: error, database: path) : error
    }

    /// Looks before anything is written: opening a pool writes to the file already.
    private static func checkVersion(_ path: String, exactly: Bool) throws -> Int {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        do {
            return try checkVersion(path, exactly: exactly, configuration)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY && !exactly {
            // A process that ended while it made the database left a transaction that is to be taken back first.
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

    /// SQLite would make the file readable for others within the umask; made before, it and its log are the owner's alone.
    private static func prepareFile(_ path: String, readOnly: Bool) throws(Failure) {
        let file = Glibc.open(path, readOnly ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let code = errno
            if readOnly, code == ENOENT {
                throw Failure(
                    .notFound, "Nothing is known of the account yet: \(path) does not exist",
                    hint: "Run `larder run --once` first")
            }
            throw Failure(
                !readOnly && (code == ENOENT || code == EACCES) ? .cannotCreate : .localIO,
                "The database \(path) cannot be opened: \(String(cString: strerror(code)))",
                hint: "See that the folder exists and belongs to the user that Larder runs as")
        }
        Glibc.close(file)
    }
}
