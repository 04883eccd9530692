import GRDB
import Glibc
import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import Vault

/// Tests of damage to a vault's database, of its backups, and of what a restore recovers.
@Suite struct RestoreTests {
    /// Damages a database that no process has open.
    /// - Parameter isHidden: Whether only pages are damaged that SQLite does not read when it opens the database.
    private func damage(_ path: String, isHidden: Bool = false) throws {
        if path.hasSuffix("larder.db") {
            let queue = try DatabaseQueue(path: path)
            try queue.inDatabase { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try queue.close()
        }
        for end in ["-wal", "-shm"] { Files.remove(path + end) }
        var bytes = try Files.read(path)
        if isHidden {
            // These pages hold a plugin's large values.
            for page in stride(from: 0, to: bytes.count, by: 4096) {
                guard bytes[page..<page + 4096].count(where: { $0 == 1 }) > 2_000 else { continue }
                for index in page..<page + 8 { bytes[index] = 0x5a }
            }
        } else {
            for index in stride(from: 4096, to: bytes.count, by: 7) { bytes[index] = 0x5a }
        }
        try Files.write(bytes, to: path, mode: 0o600)
    }

    /// Makes a closed vault with a pin, a claim, a plugin's value, a loop and a waiting download. Makes a backup of the
    /// vault if `backup` is true.
    private func makeVault(_ path: String, backup: Bool = true) throws {
        let vault = try Vault.open(at: path)
        try vault.database.writeBlocking { tx in
            let item = try tx.items.insert(fileItem("/a"))
            try tx.policies.add(
                ItemPolicy(kind: .availableOffline, condition: "path == '/a'"), by: .person("a", at: .now()))
            try tx.claims.add(
                Claim(id: ClaimID("c"), item: item.localID, kind: .read, validity: .explicit))
            try tx.plugins.setValue(of: PluginID("org.example.p"), key: [2], [1])
            let large = [UInt8](repeating: 1, count: 1_000)
            for key in 0..<200 { try tx.plugins.setValue(of: PluginID("org.example.q"), key: [UInt8(key)], large) }
            _ = try tx.journal.insert(
                SyncRecord(
                    action: .download, localID: item.localID, path: item.path, reason: .user,
                    since: Timestamp(seconds: 0)))
            _ = try tx.issues.file(
                Issue(code: "x", subject: "a", message: "b", choices: [], created: Timestamp(seconds: 0)))
        }
        if backup { #expect(try DatabaseBackups(vault: path).makeIfDue(now: .now())) }
        try vault.close()
    }

    private func expectRestored(_ path: String) throws {
        let vault = try Vault.open(at: path)
        try vault.database.readBlocking { reads throws in
            #expect(try reads.policies.all().map(\.condition) == ["path == '/a'"])
            #expect(try reads.claims.all().count == 1)
            #expect(try reads.plugins.value(of: PluginID("org.example.p"), key: [2]) == [1])
            #expect(try reads.journal.counts().isEmpty && reads.issues.all().isEmpty)
        }
        #expect(vault.isFirstSinceBoot)
        try vault.close()
    }

    @Test("V6: after an unclean end the database is looked at, and damage is 74 with the command that helps")
    func unclean() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            #expect(!Files.exists(path + "/unclosed"))
            try Files.write("", to: path + "/unclosed")
            // A sound database is opened.
            try Vault.open(at: path).close()
            try damage(path + "/larder.db", isHidden: true)
            // Opening the database alone does not meet the damage.
            try Vault.open(at: path).close()
            try Files.write("", to: path + "/unclosed")
            let failure = #expect(throws: Failure.self) { try Vault.open(at: path) }
            #expect(failure?.kind == .localIO && failure?.hint == .restoreDatabase)
            #expect(failure?.isDamage == true && Files.exists(path + "/unclosed"))
            // The file is not a database at all here.
            try Files.write("not a database, and long enough to be looked at", to: path + "/larder.db")
            let none = #expect(throws: Failure.self) { try Vault.open(at: path) }
            #expect(none?.isDamage == true)
        }
    }

    @Test(
        "V6: a backup is made once a day and two are kept, for the owner alone; a damaged database makes none",
        arguments: [false, true])
    func backups(isHidden: Bool) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            let backups = DatabaseBackups(vault: path)
            let first = path + "/backups/larder-000001.db"
            var info = stat()
            #expect(stat(first, &info) == 0 && info.st_mode & 0o777 == 0o600)
            #expect(try !backups.makeIfDue(now: .now()) && !backups.makeIfDue(now: .now() + .seconds(86_000)))
            for _ in 0..<3 { #expect(try backups.makeIfDue(now: .now() + .seconds(86_500))) }
            // The clock is set back. A backup with a later date does not prevent another backup.
            #expect(try backups.makeIfDue(now: .now() - .seconds(1000)))
            try Files.write("half", to: path + "/backups/larder-000006.db.new")
            #expect(
                try Files.names(in: path + "/backups").sorted().prefix(2) == ["larder-000004.db", "larder-000005.db"])
            try damage(path + "/larder.db", isHidden: isHidden)
            let failure = #expect(throws: Failure.self) { try backups.makeIfDue(now: .now() + .seconds(90_000)) }
            #expect(failure?.isDamage == true)
            #expect(try Files.names(in: path + "/backups").sorted() == ["larder-000004.db", "larder-000005.db"])
        }
    }

    @Test("V6 V4: the database is kept as it was before its schema changes")
    func schema() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try Files.makeFolder(path)
            let older = Array(Migrations.all.dropLast())
            let queue = try DatabaseQueue(path: path + "/larder.db")
            try queue.inDatabase { db in
                try Migrations.run(db, at: path, migrations: older)
                try db.execute(
                    sql: """
                        INSERT INTO meta (key, value) VALUES ('vaultID', '\(String(repeating: "a", count: 32))');
                        INSERT INTO policies (id, kind, condition, revision) VALUES ('p', 'availableOffline', 'true', \
                        1);
                        """)
            }
            try queue.close()
            try Vault.open(at: path).close()
            let kept = DatabaseFile(path: path + "/backups/larder-schema\(older.count).db")
            #expect(try kept.count("policies") == 1)
            #expect(try kept.reading { try Migrations.check($0, at: path, exactly: false) } == older.count)
            try damage(path + "/larder.db")
            #expect(try VaultRestore(vault: path).run { _ in }.found.newestSound?.path == kept.path)
            let vault = try Vault.open(at: path)
            #expect(try vault.database.readBlocking { try $0.policies.all().count } == 1)
            try vault.close()
        }
    }

    @Test("V6: a restore takes the newest sound backup, keeps the damaged file, and says before what it will do")
    func restore() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            let restore = VaultRestore(vault: path)
            #expect(try restore.inspect().state == .sound)
            #expect(try restore.run { _ in Issue.record("nothing is to be done") }.found.state == .sound)
            #expect(try DatabaseBackups(vault: path).makeIfDue(now: .now() + .seconds(90_000)))
            try damage(path + "/backups/larder-000002.db")
            try damage(path + "/larder.db")
            let damaged = try Files.read(path + "/larder.db")
            let (found, aside) = try restore.run { found in
                #expect(found.newestSound?.path == path + "/backups/larder-000001.db")
                #expect(found.newestSound?.policies == 1 && found.newestSound?.claims == 1)
                #expect((try? Files.read(path + "/larder.db")) == damaged)
            }
            #expect(found.state == .damaged && aside == path + "/damaged-1.db")
            #expect(try Files.read(path + "/damaged-1.db") == damaged)
            try expectRestored(path)
            // The restore is repeated for a database that was removed.
            for end in ["", "-wal", "-shm"] { Files.remove(path + "/larder.db" + end) }
            #expect(try restore.run { _ in }.aside == nil)
            try expectRestored(path)
        }
    }

    @Test(
        "V6: a backup that cannot be read is told and passed over for an older one, and does not count as none",
        arguments: [true, false])
    func unreadableBackup(hasOlder: Bool) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            if hasOlder { #expect(try DatabaseBackups(vault: path).makeIfDue(now: .now() + .seconds(90_000))) }
            let unreadable = path + "/backups/larder-00000\(hasOlder ? 2 : 1).db"
            // SQLite cannot tell whether a transaction must be rolled back.
            try Files.makeFolder(unreadable + "-journal")
            try damage(path + "/larder.db")
            let damaged = try Files.read(path + "/larder.db")
            let restore = VaultRestore(vault: path)
            let found = try restore.inspect()
            #expect(found.state == .damaged)
            #expect(found.backups.first?.path == unreadable && found.backups.first?.problem != nil)
            if hasOlder {
                #expect(try restore.run { _ in }.found.newestSound?.path == path + "/backups/larder-000001.db")
                try expectRestored(path)
            } else {
                let failure = #expect(throws: Failure.self) {
                    try restore.run { _ in Issue.record("nothing is to be done") }
                }
                #expect(failure?.kind == .localIO)
                #expect(try Files.read(path + "/larder.db") == damaged)
                Files.remove(unreadable + "-journal")
                _ = try restore.run { _ in }
                try expectRestored(path)
            }
        }
    }

    @Test("V6: the changes that were queued are told, as far as the damaged database can be read")
    func queuedChanges() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            let vault = try Vault.open(at: path)
            let names = (0..<2_000).map { "/new-\($0)" }
            try vault.database.writeBlocking { tx in
                let item = try tx.items.insert(fileItem("/b"))
                for name in names {
                    _ = try tx.journal.insert(
                        SyncRecord(
                            action: .createFolder, localID: item.localID, path: try ItemPath(name), reason: .user,
                            since: Timestamp(seconds: 0)))
                }
            }
            try vault.close()
            let (database, restore) = (path + "/larder.db", VaultRestore(vault: path))
            try damage(database, isHidden: true)
            // The download that waited changes nothing on the server.
            #expect(try restore.queuedChanges().map(\.path.text) == names)
            var bytes = try Files.read(database)
            for page in stride(from: 4096, to: bytes.count, by: 4096)
            where bytes[page..<page + 4096].contains(Array("/new-1500".utf8)) {
                for index in page..<page + 8 { bytes[index] = 0x5a }
            }
            try Files.write(bytes, to: database, mode: 0o600)
            let told = try restore.queuedChanges().map(\.path.text)
            #expect(!told.isEmpty && told.count < names.count && told == Array(names.prefix(told.count)))
            try damage(database)
            #expect(throws: Failure.self) { try restore.queuedChanges() }
        }
    }

    @Test("V6: backups that cannot be listed do not count as none")
    func unlistedBackups() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            try damage(path + "/larder.db")
            rename(path + "/backups", path + "/elsewhere")
            try Files.write("", to: path + "/backups")
            let restore = VaultRestore(vault: path)
            let failure = #expect(throws: Failure.self) { try restore.run { _ in } }
            #expect(failure?.kind == .localIO)
            for end in ["", "-wal", "-shm"] { Files.remove(path + "/larder.db" + end) }
            #expect(throws: Failure.self) { try Vault.open(at: path) }
            Files.remove(path + "/backups")
            rename(path + "/elsewhere", path + "/backups")
            _ = try restore.run { _ in }
            try expectRestored(path)
        }
    }

    @Test("V6: what is known of copies by a damaged backup is told as damage")
    func damagedSource() throws {
        try withTemporaryFolder { folder in
            try Files.write(String(repeating: "not a database ", count: 500), to: folder + "/restored.db")
            let failure = #expect(throws: Failure.self) {
                try DatabaseFile(path: folder + "/restored.db").knownCopies()
            }
            #expect(failure?.isDamage == true)
        }
    }

    @Test(
        "V6: a database that is gone, empty or a folder is not made anew in silence while there is a backup of it",
        arguments: ["gone", "empty", "without its log", "a folder"])
    func lost(_ how: String) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            for end in ["", "-wal", "-shm"] { Files.remove(path + "/larder.db" + end) }
            switch how {
            case "empty": try Files.write("", to: path + "/larder.db", mode: 0o600)
            case "without its log":
                let queue = try DatabaseQueue(path: path + "/larder.db")
                try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; VACUUM") }
                try queue.close()
            case "a folder": try Files.makeFolder(path + "/larder.db")
            default: break
            }
            for open in [{ _ = try Vault.open(at: path) }, { _ = try Vault.openDatabaseForReading(at: path) }] {
                let failure = #expect(throws: Failure.self) { try open() }
                #expect(failure?.isDamage == true, "\(failure as Any)")
            }
            let (found, aside) = try VaultRestore(vault: path).run { _ in }
            #expect(found.state == (how == "gone" ? .missing : .damaged))
            #expect((aside == nil) == (how == "gone"))
            try expectRestored(path)
        }
    }

    @Test(
        "V6: without a sound backup, or with another vault's alone, a restore begins with an empty database of this vault"
    )
    func empty() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path, backup: false)
            try makeVault(folder + "/other")
            try Files.makeFolder(path + "/backups")
            try Files.write(
                try Files.read(folder + "/other/backups/larder-000001.db"), to: path + "/backups/larder-000001.db")
            let id = try Files.text(path + "/vault")
            try damage(path + "/larder.db")
            let (found, _) = try VaultRestore(vault: path).run { _ in }
            #expect(found.newestSound == nil && found.backups.first?.problem == "it belongs to another vault")
            let vault = try Vault.open(at: path)
            #expect(vault.id + "\n" == id)
            #expect(try vault.database.readBlocking { try $0.policies.all().isEmpty })
            try vault.close()
        }
    }

    @Test(
        "V6: nobody opens a vault whose restore was cut off, and the restore is done again to the same end",
        arguments: 0..<6)
    func cutOff(_ step: Int) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try makeVault(path)
            try damage(path + "/larder.db")
            let database = path + "/larder.db"
            // These are the files that a kill leaves after each step of the restore.
            if step >= 0 { try Files.write("half a copy", to: path + "/restore.db", mode: 0o600) }
            if step >= 1 { try Files.write("", to: path + "/restoring") }
            if step >= 2 { try Files.write("its log", to: path + "/damaged-1.db-wal") }
            if step >= 3 { rename(database, path + "/damaged-1.db") }
            if step >= 4 {
                Files.remove(path + "/restoring")
                _ = try VaultRestore(vault: path).run { _ in }
                try Files.write("", to: path + "/restoring")
            }
            if step >= 5 { try Files.write("", to: path + "/unclosed") }
            if step >= 1 {
                for open in [{ _ = try Vault.open(at: path) }, { _ = try Vault.openDatabaseForReading(at: path) }] {
                    let failure = #expect(throws: Failure.self) { try open() }
                    #expect(failure?.kind == .localIO && failure?.hint == .restoreDatabaseAgain)
                }
            }
            _ = try VaultRestore(vault: path).run { _ in }
            try expectRestored(path)
            #expect(try !Files.names(in: path).contains { $0.hasPrefix("restore.db") || $0 == "restoring" })
        }
    }

    @Test(
        "V6: what was kept of calendars' files stays through a restore, and what was changed since the backup is kept too"
    )
    func keptCalendarFiles() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            let calendar = RecordKey("/w/")
            func put(_ vault: Vault, _ name: String, _ content: String) throws {
                try vault.database.writeBlocking { tx in
                    _ = try tx.records.put(Record(key: calendar, value: #"{"name":"Work"}"#), in: .calendars)
                    let record = Record(key: RecordKey("/w/\(name).ics"), content: Array(content.utf8))
                    _ = try tx.records.put(record, in: RecordCollection.calendars.of(calendar))
                }
                try vault.calendars.follow()
            }
            var vault = try Vault.open(at: path)
            func file(_ name: String) -> String { "\(path)/calendars/Work/\(name).ics" }
            for name in ["kept", "later", "same"] { try put(vault, name, "\(name) 1") }
            try Files.write("mine", to: file("kept"))
            try put(vault, "kept", "kept 2")
            #expect(try DatabaseBackups(vault: path).makeIfDue(now: .now()))
            // These changes come after the backup.
            for name in ["later", "kept"] { try put(vault, name, "\(name) 3") }
            try put(vault, "new", "new 1")
            try vault.close()
            try Files.write("mine too", to: file("later"))
            try damage(path + "/larder.db")
            _ = try VaultRestore(vault: path).run { _ in }

            vault = try Vault.open(at: path)
            for name in ["later", "kept"] { try put(vault, name, "\(name) 3") }
            try put(vault, "new", "new 1")
            try vault.calendars.complete()
            let files = try MirrorFixture.files(below: path)
            let mine: [MirrorName: String] = [
                "Work/kept (changed here).ics": "mine", "Work/later (changed here).ics": "mine too",
            ]
            let server: [MirrorName: String] = [
                "Work/kept.ics": "kept 3", "Work/later.ics": "later 3", "Work/new.ics": "new 1",
                "Work/same.ics": "same 1",
            ]
            // A file that Larder wrote after the backup does not count as a local change.
            #expect(files == mine.merging(server) { $1 }, "\(files)")
            try vault.close()
        }
    }

    @Test("V6 S27: a vault that a host has open is not restored")
    func inUse() throws {
        try withTemporaryFolder { folder in
            let vault = try Vault.open(at: folder + "/vault")
            let failure = #expect(throws: Failure.self) { try VaultRestore(vault: folder + "/vault").run { _ in } }
            #expect(failure?.kind == .vaultLocked)
            #expect(try VaultRestore(vault: folder + "/vault").inspect().state == .sound)
            try vault.close()
        }
    }
}
