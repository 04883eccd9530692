import GRDB
import Glibc
package import Model

/// A database's file as a whole, to be checked, copied and created. The functions block the thread. Except for
/// ``change(_:)``, they do not keep others from the database meanwhile.
package struct DatabaseFile {
    /// The absolute path of the file.
    package let path: String

    package init(path: String) { self.path = path }

    /// Returns what SQLite finds damaged in the file, or nil if it finds no damage.
    /// - Parameter isThorough: Whether indexes are also compared with their tables, which takes longer.
    /// - Throws: `.localIO` if the file cannot be opened or read, `.vaultLocked` if another program has it locked, else
    ///   `.internal`.
    package func damage(isThorough: Bool = false) throws(Failure) -> String? {
        do {
            return try reading { db in
                let check = isThorough ? "integrity_check" : "quick_check"
                guard let found = try String.fetchOne(db, sql: "PRAGMA \(check)(1)"), found != "ok" else { return nil }
                return found.split(separator: "\n").joined(separator: " ")
            }
        } catch let error as DatabaseError where SQLiteFailure.isDamage(error.resultCode) {
            return error.message ?? "it is not a database"
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// The reason why the file holds nothing of a vault, although a file with its name may exist. Nil if the file holds
    /// something or is damaged.
    package var emptiness: String? {
        var info = stat()
        guard stat(path, &info) == 0 else { return errno == ENOENT ? "it is gone" : nil }
        guard info.st_mode & S_IFMT == S_IFREG else { return "it is not a file" }
        // SQLite removes the log of an empty file.
        guard info.st_size > 0 else { return "it is empty" }
        let schema = try? reading { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        return schema == 0 ? "it is empty" : nil
    }

    /// Returns the reason why the file cannot replace a vault's database, or nil if it can.
    /// - Parameter vault: The vault's id; nil if the id is not known.
    /// - Throws: The errors of ``damage(isThorough:)``.
    package func problem(of vault: String?) throws(Failure) -> String? {
        if let damage = try damage() { return damage }
        do {
            return try reading { db in
                guard try Migrations.isOwn(db) else { return "it is not a database of this or an older Larder" }
                let id = try String.fetchOne(
                    db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [MetaKey.vaultID.name])
                return vault == nil || id == vault ? nil : "it belongs to another vault"
            }
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Copies what is committed to a new file beside the target, makes the new file durable, and then gives it the
    /// target's name.
    /// - Parameter target: The absolute path of the copy, in an existing folder. A file with this name is replaced.
    /// - Throws: `.localIO` if the disk is full, the file or its copy cannot be read or written, or the file is
    ///   damaged; else the errors of ``damage(isThorough:)``.
    package func copy(to target: String) throws(Failure) {
        let new = target + ".new"
        unlink(new)
        // SQLite would make the copy readable for others within the umask.
        let number = Glibc.open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("making \(new)", errno) }
        defer { close(number) }
        do {
            try back(up: new)
            guard fsync(number) == 0 else { throw Failure.system("writing \(new)", errno) }
            if let problem = try DatabaseFile(path: new).damage() {
                // SQLite copies pages as they are, so that damage of the copy is damage of the original.
                throw SQLiteFailure.damage(of: path, problem)
            }
            guard rename(new, target) == 0 else { throw Failure.system("naming \(target)", errno) }
        } catch {
            unlink(new)
            throw SQLiteFailure.failure(for: error, database: path)
        }
        try syncFolder(of: target)
    }

    /// Copies what is committed, with SQLite's backup function, to a file that has no log.
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

    /// Returns how many rows a table has.
    /// - Throws: The errors of ``damage(isThorough:)``, and `.internal` if there is no such table.
    package func count(_ table: String) throws(Failure) -> Int64 {
        do {
            return try reading { try Int64.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
        } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    /// Changes the file with exclusive access, and leaves one file without a log. The change is on the disk when the
    /// function returns.
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
            // A process that ended while it created the database left a transaction, which must be rolled back first.
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

/// Makes the creations, renames and removals in a file's folder durable.
/// - Throws: `.localIO` if the folder cannot be opened or written.
package func syncFolder(of path: String) throws(Failure) {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
    let number = Glibc.open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw .system("opening \(folder)", errno) }
    defer { close(number) }
    guard fsync(number) == 0 else { throw .system("writing \(folder)", errno) }
}
