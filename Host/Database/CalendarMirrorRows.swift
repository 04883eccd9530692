import GRDB
package import Model

/// The folder of a calendar's files.
package struct MirrorFolderRow: Hashable {
    package var calendar: RecordKey
    package var name: MirrorName
    package var title: MirrorName
    package var formerName: MirrorName?

    package init(calendar: RecordKey, name: MirrorName, title: MirrorName, formerName: MirrorName? = nil) {
        (self.calendar, self.name, self.title, self.formerName) = (calendar, name, title, formerName)
    }
}

/// The file of a calendar's object.
package struct MirrorFileRow: Hashable {
    package var key: RecordKey
    package var name: MirrorName
    package var contentID: Int64
    package var inode: UInt64
    /// In bytes.
    package var size: Int64
    /// In nanoseconds since 1970.
    package var modified: Int64
    /// SHA-256 of what was written; nil: by an older Larder.
    package var digest: [UInt8]?
    /// Of what Larder wrote before, which is there still until the file was put in place.
    package var formerDigest: [UInt8]?

    package init(
        key: RecordKey, name: MirrorName, contentID: Int64, inode: UInt64, size: Int64, modified: Int64,
        digest: [UInt8]?, formerDigest: [UInt8]? = nil
    ) {
        (self.key, self.name, self.contentID) = (key, name, contentID)
        (self.inode, self.size, self.modified) = (inode, size, modified)
        (self.digest, self.formerDigest) = (digest, formerDigest)
    }
}

/// A record of a calendar that changed since the files were written.
package struct MirrorChange: Hashable {
    package var number: Int64
    /// The calendar's key.
    package var calendar: RecordKey
    /// Nil: the calendar itself.
    package var object: RecordKey?
}

extension DatabaseReads {
    /// The next records that changed, at most so many.
    package func mirrorChanges(limit: Int) throws -> [MirrorChange] {
        let statement = try RawStatement(
            db, "SELECT number, collection, key FROM calendarChanges ORDER BY number LIMIT ?")
        defer { statement.reset() }
        statement.bind(1, Int64(limit))
        var changes: [MirrorChange] = []
        while try statement.step() {
            let (number, key) = (statement.integer(0) ?? 0, RecordKey(statement.text(2) ?? ""))
            let collection = RecordCollection(statement.text(1) ?? "")
            if collection == .calendars {
                changes.append(MirrorChange(number: number, calendar: key, object: nil))
            } else {
                let calendar = String(decoding: collection.text.utf8.dropFirst("calendars/".utf8.count), as: UTF8.self)
                changes.append(MirrorChange(number: number, calendar: RecordKey(calendar), object: key))
            }
        }
        return changes
    }

    package func lastMirrorChange() throws -> Int64 {
        let statement = try RawStatement(db, "SELECT max(number) FROM calendarChanges")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// What a calendar is called; nil: there is no such calendar.
    package func calendarTitle(_ calendar: RecordKey) throws -> String?? {
        let statement = try RawStatement(
            db, "SELECT nullif(value, '') ->> '$.name' FROM records WHERE collection = 'calendars' AND key = ?")
        defer { statement.reset() }
        statement.bind(1, calendar.text)
        return try statement.step() ? .some(statement.text(0)) : nil
    }

    package func calendarKeys() throws -> [RecordKey] {
        let statement = try RawStatement(db, "SELECT key FROM records WHERE collection = 'calendars' ORDER BY key")
        defer { statement.reset() }
        var keys: [RecordKey] = []
        while try statement.step() { keys.append(RecordKey(statement.text(0) ?? "")) }
        return keys
    }

    package func mirrorFolders() throws -> [MirrorFolderRow] { try mirrorFolders("1", []) }

    package func mirrorFolder(of calendar: RecordKey) throws -> MirrorFolderRow? {
        try mirrorFolders("calendar = ?", [.text(calendar.text)]).first
    }

    package func mirrorFolder(named name: MirrorName) throws -> MirrorFolderRow? {
        try mirrorFolders("name = ?", [.text(name.text)]).first
    }

    private func mirrorFolders(_ sql: String, _ arguments: [SQLValue]) throws -> [MirrorFolderRow] {
        let statement = try RawStatement(
            db, "SELECT calendar, name, title, formerName FROM calendarFolders WHERE \(sql) ORDER BY calendar")
        defer { statement.reset() }
        statement.bind(arguments)
        var folders: [MirrorFolderRow] = []
        while try statement.step() {
            folders.append(
                MirrorFolderRow(
                    calendar: RecordKey(statement.text(0) ?? ""), name: MirrorName(statement.text(1) ?? ""),
                    title: MirrorName(statement.text(2) ?? ""), formerName: statement.text(3).map(MirrorName.init)))
        }
        return folders
    }

    package func mirrorFile(of object: RecordKey, in calendar: RecordKey) throws -> MirrorFileRow? {
        try mirrorFiles("calendar = ? AND key = ?", [.text(calendar.text), .text(object.text)]).first
    }

    /// The file that has a content by the database.
    package func mirrorFile(contentID: Int64, in calendar: RecordKey) throws -> MirrorFileRow? {
        try mirrorFiles("calendar = ? AND contentID = ?", [.text(calendar.text), .integer(contentID)]).first
    }

    package func hasMirrorFile(named name: MirrorName, in calendar: RecordKey) throws -> Bool {
        try !mirrorFiles("calendar = ? AND name = ?", [.text(calendar.text), .text(name.text)]).isEmpty
    }

    /// The files of a calendar from a key on, at most so many.
    package func mirrorFiles(of calendar: RecordKey, after key: RecordKey?, limit: Int) throws -> [MirrorFileRow] {
        let start: [SQLValue] = key.map { [.text($0.text)] } ?? []
        return try mirrorFiles(
            "calendar = ?\(key == nil ? "" : " AND key > ?") ORDER BY key LIMIT ?",
            [.text(calendar.text)] + start + [.integer(Int64(limit))])
    }

    private func mirrorFiles(_ sql: String, _ arguments: [SQLValue]) throws -> [MirrorFileRow] {
        let statement = try RawStatement(
            db,
            """
            SELECT key, name, contentID, inode, size, modified, digest, formerDigest FROM calendarFiles WHERE \(sql)
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        var files: [MirrorFileRow] = []
        while try statement.step() {
            files.append(
                MirrorFileRow(
                    key: RecordKey(statement.text(0) ?? ""), name: MirrorName(statement.text(1) ?? ""),
                    contentID: statement.integer(2) ?? 0, inode: UInt64(bitPattern: statement.integer(3) ?? 0),
                    size: statement.integer(4) ?? 0, modified: statement.integer(5) ?? 0, digest: statement.blob(6),
                    formerDigest: statement.blob(7)))
        }
        return files
    }

    /// Which contents a calendar's objects have, from a key on, at most so many; objects without content are left out.
    package func contentIDs(
        of calendar: RecordKey, after key: RecordKey?, limit: Int
    ) throws -> [(key: RecordKey, contentID: Int64)] {
        let statement = try RawStatement(
            db,
            """
            SELECT key, contentID FROM records
            WHERE collection = ?\(key == nil ? "" : " AND key > ?") AND contentID IS NOT NULL ORDER BY key LIMIT ?
            """)
        defer { statement.reset() }
        let start: [SQLValue] = key.map { [.text($0.text)] } ?? []
        statement.bind(
            [.text(RecordCollection.calendars.of(calendar).text)] + start + [.integer(Int64(limit))])
        var found: [(RecordKey, Int64)] = []
        while try statement.step() { found.append((RecordKey(statement.text(0) ?? ""), statement.integer(1) ?? 0)) }
        return found
    }

    package func contentID(of object: RecordKey, in calendar: RecordKey) throws -> Int64? {
        let statement = try RawStatement(db, "SELECT contentID FROM records WHERE collection = ? AND key = ?")
        defer { statement.reset() }
        statement.bind([.text(RecordCollection.calendars.of(calendar).text), .text(object.text)])
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Nil: there is no such object, or it has none.
    package func content(of object: RecordKey, in calendar: RecordKey) throws -> (id: Int64, bytes: [UInt8])? {
        let statement = try RawStatement(
            db,
            """
            SELECT id, content FROM records JOIN recordContents ON id = contentID WHERE collection = ? AND key = ?
            """)
        defer { statement.reset() }
        statement.bind(1, RecordCollection.calendars.of(calendar).text)
        statement.bind(2, object.text)
        guard try statement.step(), let id = statement.integer(0), let bytes = statement.blob(1) else { return nil }
        return (id, bytes)
    }
}

extension Transaction {
    package func store(_ folder: MirrorFolderRow) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO calendarFolders (calendar, name, title, formerName) VALUES (?, ?, ?, ?)")
        statement.bind([
            .text(folder.calendar.text), .text(folder.name.text), .text(folder.title.text),
            folder.formerName.map { .text($0.text) } ?? .null,
        ])
        try statement.run()
    }

    package func store(_ file: MirrorFileRow, in calendar: RecordKey) throws {
        let statement = try RawStatement(
            db,
            """
            INSERT OR REPLACE INTO calendarFiles
              (calendar, key, name, contentID, inode, size, modified, digest, formerDigest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind([
            .text(calendar.text), .text(file.key.text), .text(file.name.text), .integer(file.contentID),
            .integer(Int64(bitPattern: file.inode)), .integer(file.size), .integer(file.modified),
            file.digest.map { .blob($0) } ?? .null, file.formerDigest.map { .blob($0) } ?? .null,
        ])
        try statement.run()
    }

    package func removeMirrorFolder(of calendar: RecordKey) throws {
        try removeMirrorFiles(of: calendar)
        let statement = try RawStatement(db, "DELETE FROM calendarFolders WHERE calendar = ?")
        statement.bind(1, calendar.text)
        try statement.run()
    }

    package func removeMirrorFiles(of calendar: RecordKey) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarFiles WHERE calendar = ?")
        statement.bind(1, calendar.text)
        try statement.run()
    }

    package func removeMirrorFile(of object: RecordKey, in calendar: RecordKey) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarFiles WHERE calendar = ? AND key = ?")
        statement.bind([.text(calendar.text), .text(object.text)])
        try statement.run()
    }

    /// Forgets a file that was never put in place.
    package func removeMirrorFile(contentID: Int64, in calendar: RecordKey) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarFiles WHERE calendar = ? AND contentID = ?")
        statement.bind([.text(calendar.text), .integer(contentID)])
        try statement.run()
    }

    package func removeMirrorChanges(_ numbers: some Sequence<Int64>) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarChanges WHERE number = ?")
        for number in numbers {
            statement.bind(1, number)
            try statement.run()
        }
    }

    package func removeMirrorChanges(upTo number: Int64) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarChanges WHERE number <= ?")
        statement.bind(1, number)
        try statement.run()
    }
}
