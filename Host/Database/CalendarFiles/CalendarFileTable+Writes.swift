package import Model

/// The writes that concern calendars' folders and files.
extension CalendarFileTable where Access == Transaction {
    /// Stores a calendar's folder and replaces any that the calendar has.
    package func store(_ folder: MirrorFolderRow) throws {
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO calendarFolders (calendar, name, title, formerName) VALUES (?, ?, ?, ?)")
        statement.bind([
            .text(folder.calendar.text), .text(folder.name.text), .text(folder.title.text),
            folder.formerName.map { .text($0.text) } ?? .null,
        ])
        try statement.run()
    }

    /// Stores an object's file and replaces any that the object has.
    package func store(_ file: MirrorFileRow, in calendar: RecordKey) throws {
        let statement = try RawStatement(
            db,
            """
            INSERT OR REPLACE INTO calendarFiles
              (calendar, key, name, contentID, inode, size, modified, digest, formerDigest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind([
            .text(calendar.text), .text(file.key.text), .text(file.name.text), .id(file.contentID),
            .integer(Int64(bitPattern: file.inode)), .integer(file.size), .integer(file.modified),
            file.digest.map { .blob($0) } ?? .null, file.formerDigest.map { .blob($0) } ?? .null,
        ])
        try statement.run()
    }

    /// Removes the record of a calendar's folder and of all files in it.
    package func removeFolder(of calendar: RecordKey) throws {
        try removeFiles(of: calendar)
        let statement = try RawStatement(db, "DELETE FROM calendarFolders WHERE calendar = ?")
        statement.bind(1, calendar.text)
        try statement.run()
    }

    /// Removes the records of all files of a calendar.
    package func removeFiles(of calendar: RecordKey) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarFiles WHERE calendar = ?")
        statement.bind(1, calendar.text)
        try statement.run()
    }

    /// Removes the record of an object's file.
    package func removeFile(of object: RecordKey, in calendar: RecordKey) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarFiles WHERE calendar = ? AND key = ?")
        statement.bind([.text(calendar.text), .text(object.text)])
        try statement.run()
    }

    /// Removes the record of a file that was never put in place.
    package func removeFile(contentID: CalendarContentID, in calendar: RecordKey) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarFiles WHERE calendar = ? AND contentID = ?")
        statement.bind([.text(calendar.text), .id(contentID)])
        try statement.run()
    }

    /// Removes changes whose files have been written.
    package func removeChanges(_ numbers: some Sequence<Int64>) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarChanges WHERE number = ?")
        for number in numbers {
            statement.bind(1, number)
            try statement.run()
        }
    }

    /// Removes the changes up to a number, whose files have been written.
    package func removeChanges(upTo number: Int64) throws {
        let statement = try RawStatement(db, "DELETE FROM calendarChanges WHERE number <= ?")
        statement.bind(1, number)
        try statement.run()
    }
}
