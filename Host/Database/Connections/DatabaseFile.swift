import GRDB
import Glibc
package import Model

/// A database's file as a whole: looked at, copied, made. It blocks; nobody is kept from the database meanwhile.
package struct DatabaseFile {
    /// Absolute.
    package let path: String

    package init(path: String) { self.path = path }

    /// What SQLite finds damaged in the file; nil: nothing.
    /// - Parameter isThorough: whether indexes are compared with their tables too, which takes longer.
    /// - Throws: `.localIO` if it cannot be opened or read, `.vaultLocked` if another program has it locked, else
    ///   `.internal`.
    package func damage(isThorough: Bool = false) throws(Failure) -> String? {
        do {
            return try reading { db in
                let check = isThorough ? "integrity_check" : "quick_check"
                guard let found = try String.fetchOne(db, sql: "PRAGMA \(check)(1)"), found != "ok" else { return nil }
                return found.split(separator: "\n").joined(separator: " ")
            }
        } catch let error as DatabaseError where SQLiteFailure.isDamage(error.resultCode) {
            return error.message ?? "it is no database"
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Why the file holds nothing of a vault, though there may be one with that name; nil: it holds something, or is damaged.
    package var emptiness: String? {
        var info = stat()
        guard stat(path, &info) == 0 else { return errno == ENOENT ? "it is gone" : nil }
        guard info.st_mode & S_IFMT == S_IFREG else { return "it is no file" }
        // SQLite takes the log of an empty file away.
        guard info.st_size > 0 else { return "it is empty" }
        let schema = try? reading { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        return schema == 0 ? "it is empty" : nil
    }

    /// Why the file cannot take the place of a vault's database; nil: it can.
    /// - Parameter vault: The vault's id; nil: it is not known.
    /// - Throws: As ``damage(isThorough:)``.
    package func problem(of vault: String?) throws(Failure) -> String? {
        if let damage = try damage() { return damage }
        do {
            return try reading { db in
                guard try Migrations.isOwn(db) else { return "it is no database of this or an older Larder" }
                let id = try String.fetchOne(
                    db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [MetaKey.vaultID.name])
                return vault == nil || id == vault ? nil : "it is another vault's"
            }
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Copies what is committed to a file beside it, which is on the disk when this returns, and takes its name then.
    /// - Parameter target: absolute, in a folder that is there. What has that name is replaced.
    /// - Throws: `.localIO` if the disk is full, the file or its copy cannot be read or written, or it is damaged; else
    ///   as ``damage(isThorough:)``.
    package func copy(to target: String) throws(Failure) {
        let new = target + ".new"
        unlink(new)
        // SQLite would make it readable for others within the umask.
        let number = Glibc.open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("making \(new)", errno) }
        defer { close(number) }
        do {
            try back(up: new)
            guard fsync(number) == 0 else { throw Failure.system("writing \(new)", errno) }
            if let problem = try DatabaseFile(path: new).damage() {
                // Pages are copied as they are.
                throw SQLiteFailure.damage(of: path, problem)
            }
            guard rename(new, target) == 0 else { throw Failure.system("naming \(target)", errno) }
        } catch {
            unlink(new)
            throw SQLiteFailure.failure(for: error, database: path)
        }
        try syncFolder(of: target)
    }

    /// Copies what is committed, by SQLite's own means, to a file that has no log.
    private func back(up target: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        let source = try DatabaseQueue(path: path, configuration: configuration)
        let copy = try DatabaseQueue(path: target)
        try source.backup(to: copy)
        try copy.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try copy.close()
        try source.close()
    }

    /// How many rows a table has.
    /// - Throws: As ``damage(isThorough:)``, and `.internal` if there is no such table.
    package func count(_ table: String) throws(Failure) -> Int64 {
        do {
            return try reading { try Int64.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Changes the file with nobody beside, in a way that leaves one file and no log. It is on the disk when this returns.
    func change(_ body: (GRDB.Database) throws -> Void) throws(Failure) {
        do {
            var configuration = Configuration()
            configuration.acceptsDoubleQuotedStringLiterals = false
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.inDatabase { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try Migrations.run(db, at: path)
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
            }
            try queue.close()
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    func reading<T>(_ body: (GRDB.Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.acceptsDoubleQuotedStringLiterals = false
        do {
            return try reading(configuration, body)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            // A process that ended while it made the database left a transaction that is to be taken back first.
            configuration.readonly = false
            return try reading(configuration, body)
        }
    }

    private func reading<T>(_ configuration: Configuration, _ body: (GRDB.Database) throws -> T) throws -> T {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let result = try queue.inDatabase(body)
        try queue.close()
        return result
    }
}

/// Makes what happened to the names in a file's folder durable.
/// - Throws: `.localIO` if the folder cannot be opened or written.
package func syncFolder(of path: String) throws(Failure) {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    let number = Glibc.open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw .system("opening \(folder)", errno) }
    defer { close(number) }
    guard fsync(number) == 0 else { throw .system("writing \(folder)", errno) }
}
