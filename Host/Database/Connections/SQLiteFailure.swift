import GRDB
public import Model

/// SQLite's errors as messages for a person.
package enum SQLiteFailure {
    package static func damage(of path: String, _ problem: String) -> Failure {
        Failure.lasting(.localIO, "The database \(path) is damaged: \(problem)", hint: .restoreDatabase)
    }

    static func isDamage(_ code: ResultCode) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(code.primaryResultCode)
    }

    package static func failure(for error: any Error, database path: String) -> Failure {
        if let failure = error as? Failure { return failure }
        guard let error = error as? DatabaseError else {
            return Failure(.internal, "The database \(path) failed: \(error)")
        }
        return failure(code: error.resultCode, message: error.message ?? "no message", sql: error.sql, database: path)
    }

    static func failure(code: ResultCode, message: String, sql: String?, database path: String) -> Failure {
        switch code.primaryResultCode {
        case .SQLITE_FULL:
            Failure(
                .localIO, "The disk is full: \(path) cannot be written",
                hint: "Free some space and start again; nothing that was written before is lost")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN, .SQLITE_AUTH:
            Failure(
                .localIO, "The database \(path) cannot be opened or written: \(message)",
                hint:
                    "Check that the file and its folder belong to the user that Larder runs as, and that the disk is "
                    + "writable"
            )
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            damage(of: path, message)
        case .SQLITE_IOERR, .SQLITE_NOLFS:
            Failure(
                .localIO, "Reading or writing the database \(path) failed: \(message)",
                hint: "Check the system's log for errors of the disk")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            Failure(
                .vaultLocked, "The database \(path) is in use by another program",
                hint: "End the program that has it open, then try again")
        default:
            Failure(.internal, "The database \(path) failed: \(message)\(sql.map { " (in: \($0))" } ?? "")")
        }
    }
}

extension Failure {
    /// Whether the failure reports a damaged database, whose content must not be believed.
    public var isDamage: Bool { kind == .localIO && hint == .restoreDatabase }
}
