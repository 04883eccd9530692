import GRDB
import GRDBSQLite
import Glibc
import Model

/// The copy of a session's state.
extension ReadSession {
    /// The path at which a copy is made. The file loses its name as soon as it is full.
    static func pathOfCopy(beside database: String) -> String { database + "-state" }

    /// Copies the state that a connection reads.
    /// - Parameters:
    ///   - source: A connection with a transaction that reads.
    ///   - database: The connection's database.
    /// - Throws: `.localIO` if the disk is full, or a file cannot be written or read; else `.internal`.
    /// - Returns: A connection to the copy. Its file is gone when the connection is closed.
    static func copy(_ source: OpaquePointer, of database: Database) throws(Failure) -> OpaquePointer {
        let path = pathOfCopy(beside: database.path)
        unlink(path)
        // SQLite would make the file readable for others within the umask.
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("making \(path)", errno) }
        defer {
            unlink(path)
            Glibc.close(number)
        }
        let writer = try open(path, SQLITE_OPEN_READWRITE, database: database.path)
        defer { sqlite3_close_v2(writer) }
        sqlite3_exec(writer, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil)
        guard let backup = sqlite3_backup_init(writer, "main", source, "main") else {
            throw failure(sqlite3_errcode(writer), database.path)
        }
        let code = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw failure(code, database.path) }
        // A copy of a database with a log says that it has one too. SQLite looks for none beside an immutable file.
        return try connect(to: "file://\(escaped(path))?immutable=1")
    }

    /// Returns a path as a part of a URI.
    private static func escaped(_ path: String) -> String {
        path.unicodeScalars.reduce(into: "") { uri, scalar in
            switch scalar {
            case "%": uri += "%25"
            case "?": uri += "%3f"
            case "#": uri += "%23"
            default: uri.unicodeScalars.append(scalar)
            }
        }
    }

    private static func failure(_ code: Int32, _ path: String) -> Failure {
        SQLiteFailure.failure(
            code: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)), sql: nil, database: path)
    }

    /// Opens a connection.
    /// - Parameter database: The path of the database that an error names.
    static func open(_ path: String, _ mode: Int32, database: String) throws(Failure) -> OpaquePointer {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw failure(code, database)
        }
        return opened
    }
}
