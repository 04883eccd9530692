package import Model

/// The files of calendars beside the database, as they were last written, and the changes since then.
public struct CalendarFileTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the next changed records.
    /// - Parameter limit: The largest number of records.
    package func changes(limit: Int) throws -> [MirrorChange] {
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

    /// Returns the number of the last change; 0 if there is none.
    package func lastChange() throws -> Int64 {
        let statement = try RawStatement(db, "SELECT max(number) FROM calendarChanges")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Returns a calendar's name.
    /// - Returns: Nil if there is no such calendar; an inner nil if the calendar has no name.
    package func title(_ calendar: RecordKey) throws -> String?? {
        let statement = try RawStatement(
            db, "SELECT nullif(value, '') ->> '$.name' FROM records WHERE collection = 'calendars' AND key = ?")
        defer { statement.reset() }
        statement.bind(1, calendar.text)
        return try statement.step() ? .some(statement.text(0)) : nil
    }

    /// Returns the keys of the known calendars.
    package func calendars() throws -> [RecordKey] {
        let statement = try RawStatement(db, "SELECT key FROM records WHERE collection = 'calendars' ORDER BY key")
        defer { statement.reset() }
        var keys: [RecordKey] = []
        while try statement.step() { keys.append(RecordKey(statement.text(0) ?? "")) }
        return keys
    }

    /// Returns all folders, by their calendars' keys.
    package func folders() throws -> [MirrorFolderRow] { try folders("1", []) }

    /// Returns a calendar's folder; nil if the calendar has none.
    package func folder(of calendar: RecordKey) throws -> MirrorFolderRow? {
        try folders("calendar = ?", [.text(calendar.text)]).first
    }

    /// Returns the folder with a name; nil if there is none.
    package func folder(named name: MirrorName) throws -> MirrorFolderRow? {
        try folders("name = ?", [.text(name.text)]).first
    }

    private func folders(_ sql: String, _ arguments: [SQLValue]) throws -> [MirrorFolderRow] {
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

    /// Returns an object's file; nil if the object has none.
    package func file(of object: RecordKey, in calendar: RecordKey) throws -> MirrorFileRow? {
        try files("calendar = ? AND key = ?", [.text(calendar.text), .text(object.text)]).first
    }

    /// Returns the file that holds a content according to the database; nil if there is none.
    package func file(contentID: CalendarContentID, in calendar: RecordKey) throws -> MirrorFileRow? {
        try files("calendar = ? AND contentID = ?", [.text(calendar.text), .id(contentID)]).first
    }

    /// Tells whether a calendar has a file with this name.
    package func hasFile(named name: MirrorName, in calendar: RecordKey) throws -> Bool {
        try !files("calendar = ? AND name = ?", [.text(calendar.text), .text(name.text)]).isEmpty
    }

    /// Returns the files of a calendar after a key.
    /// - Parameters:
    ///   - key: The key after which the files begin; nil to begin with the first file.
    ///   - limit: The largest number of files.
    package func files(of calendar: RecordKey, after key: RecordKey?, limit: Int) throws -> [MirrorFileRow] {
        let start: [SQLValue] = key.map { [.text($0.text)] } ?? []
        return try files(
            "calendar = ?\(key == nil ? "" : " AND key > ?") ORDER BY key LIMIT ?",
            [.text(calendar.text)] + start + [.integer(Int64(limit))])
    }

    private func files(_ sql: String, _ arguments: [SQLValue]) throws -> [MirrorFileRow] {
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
                    contentID: statement.id(2), inode: UInt64(bitPattern: statement.integer(3) ?? 0),
                    size: statement.integer(4) ?? 0, modified: statement.integer(5) ?? 0, digest: statement.blob(6),
                    formerDigest: statement.blob(7)))
        }
        return files
    }

    /// Returns the ids of the contents of a calendar's objects after a key. Objects without content are left out.
    /// - Parameters:
    ///   - key: The key after which the objects begin; nil to begin with the first object.
    ///   - limit: The largest number of objects.
    package func contentIDs(
        of calendar: RecordKey, after key: RecordKey?, limit: Int
    ) throws -> [(key: RecordKey, contentID: CalendarContentID)] {
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
        var found: [(RecordKey, CalendarContentID)] = []
        while try statement.step() { found.append((RecordKey(statement.text(0) ?? ""), statement.id(1))) }
        return found
    }

    /// Returns the id of an object's content; nil if the object has no content.
    package func contentID(of object: RecordKey, in calendar: RecordKey) throws -> CalendarContentID? {
        try row(
            "SELECT contentID FROM records WHERE collection = ? AND key = ? AND contentID IS NOT NULL",
            [.text(RecordCollection.calendars.of(calendar).text), .text(object.text)]
        ) { $0.id(0) }
    }

    /// Returns an object's content with its id; nil if there is no such object, or the object has no content.
    package func content(
        of object: RecordKey, in calendar: RecordKey
    ) throws -> (id: CalendarContentID, bytes: [UInt8])? {
        let statement = try RawStatement(
            db,
            """
            SELECT id, content FROM records JOIN recordContents ON id = contentID WHERE collection = ? AND key = ?
            """)
        defer { statement.reset() }
        statement.bind(1, RecordCollection.calendars.of(calendar).text)
        statement.bind(2, object.text)
        guard try statement.step(), let bytes = statement.blob(1) else { return nil }
        return (statement.id(0), bytes)
    }
}

extension DatabaseReads {
    /// The files of calendars beside the database, as they were last written, and the changes since then.
    public var calendarFiles: CalendarFileTable<Self> { CalendarFileTable(access: self) }
}
