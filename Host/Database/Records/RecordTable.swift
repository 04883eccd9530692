public import Model

/// The records that event loops cached, in collections.
public struct RecordTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns a record of a collection; nil if there is none with this key. Fields that are not requested are empty.
    public func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields = .all
    ) throws -> Record? {
        let statement = try RawStatement(db, RecordSQL.query(fields, where: "collection = ? AND key = ?"))
        defer { statement.reset() }
        statement.bind([.text(collection.text), .text(key.text)])
        return try statement.step() ? Record(statement) : nil
    }

    /// Reads the records of a collection one after the other, by key, byte by byte. Contents that are not requested are
    /// not read.
    /// - Parameters:
    ///   - after: The key after which the records begin, whether or not a record has it; nil to begin with the first
    ///     record.
    ///   - body: A function that receives each record and returns false to end early.
    /// - Throws: What `body` throws.
    public func each(
        in collection: RecordCollection, after: RecordKey? = nil, _ fields: RecordFields = .all,
        _ body: (Record) throws -> Bool
    ) throws {
        let statement = try RawStatement(db, RecordSQL.list(fields, isContinued: after != nil))
        defer { statement.reset() }
        statement.bind([.text(collection.text)] + (after.map { [.text($0.text)] } ?? []))
        while try statement.step() {
            guard try body(Record(statement)) else { return }
        }
    }

    /// Returns the number of records in a collection.
    /// - Parameter withContent: Whether only records are counted whose content is here.
    public func count(in collection: RecordCollection, withContent: Bool = false) throws -> Int {
        let column = withContent ? "contentID" : "*"
        let statement = try RawStatement(db, "SELECT count(\(column)) FROM records WHERE collection = ?")
        defer { statement.reset() }
        statement.bind(1, collection.text)
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    /// Returns the size in bytes of a record, or of all records of a collection; 0 if there is none.
    /// - Parameter key: The record's key; nil for all.
    public func size(of key: RecordKey?, in collection: RecordCollection) throws -> Int64 {
        let isOne = key == nil ? "" : " AND key = ?"
        return try row(
            "\(RecordSQL.size) WHERE collection = ?\(isOne)",
            [.text(collection.text)] + (key.map { [.text($0.text)] } ?? [])
        ) { $0.integer(0) ?? 0 } ?? 0
    }

    /// Returns the records that wait with a loop's issue.
    /// - Parameter loop: The loop, as the issue's subject names it.
    public func held(of loop: String) throws -> [RecordPlace] {
        let statement = try RawStatement(
            db, "SELECT collection, key FROM heldRecords WHERE loop = ? ORDER BY collection, key")
        defer { statement.reset() }
        statement.bind(1, loop)
        var places: [RecordPlace] = []
        while try statement.step() {
            places.append(
                RecordPlace(RecordCollection(statement.text(0) ?? ""), RecordKey(statement.text(1) ?? "")))
        }
        return places
    }

    /// Returns the highest remembered count of a collection's records in the 24 hours before a time, and how many
    /// records were removed in these hours, except those whose removal a person applied. Counts are remembered only
    /// when records are removed.
    public func removals(in collection: RecordCollection, at time: Timestamp) throws -> (known: Int, gone: Int) {
        let statement = try RawStatement(
            db, "SELECT max(known), sum(gone) FROM recordRemovals WHERE collection = ? AND minute > ?")
        defer { statement.reset() }
        statement.bind([.text(collection.text), .integer(time.seconds / 60 - minutesOfDay)])
        guard try statement.step() else { return (0, 0) }
        return (statement.count(0), statement.count(1))
    }

    /// Returns the known calendars, by their keys.
    public func calendars() throws -> [CachedCalendar] {
        let statement = try RawStatement(
            db,
            """
            SELECT key, nullif(value, '') ->> '$.name', coalesce(nullif(value, '') ->> '$.href', key),
              (SELECT count(contentID) FROM records AS objects WHERE objects.collection = 'calendars/' || records.key),
              (SELECT eventID FROM loops WHERE kind = 'calendar' AND id = records.key)
            FROM records WHERE collection = 'calendars' ORDER BY key
            """)
        defer { statement.reset() }
        var calendars: [CachedCalendar] = []
        while try statement.step() {
            calendars.append(
                CachedCalendar(
                    key: RecordKey(statement.text(0) ?? ""), name: statement.text(1), href: statement.text(2) ?? "",
                    objects: Int(statement.integer(3) ?? 0), eventID: statement.text(4).map(EventID.init)))
        }
        return calendars
    }

    /// Reads the objects of a calendar that are here, one after the other.
    /// - Parameters:
    ///   - withContent: Whether the contents of the objects are read. The objects come by key then, else by their
    ///     start.
    ///   - body: A function that receives each object and returns false to end early.
    /// - Throws: What `body` throws.
    public func eachObject(
        of calendar: RecordKey, withContent: Bool, _ body: (CachedCalendarObject) throws -> Bool
    ) throws {
        let fields = ["uid", "component", "summary", "start", "end", "rrule"]
            .map { "nullif(value, '') ->> '$.\($0)'" }.joined(separator: ", ")
        let contents = "JOIN recordContents ON recordContents.id = contentID"
        let statement = try RawStatement(
            db,
            """
            SELECT key, version, \(fields), \(withContent ? "content" : "NULL")
            FROM records \(withContent ? contents : "") WHERE collection = ? AND contentID IS NOT NULL
            ORDER BY \(withContent ? "key" : "6, key")
            """)
        defer { statement.reset() }
        statement.bind(1, RecordCollection.calendars.of(calendar).text)
        while try statement.step() {
            let object = CachedCalendarObject(
                key: RecordKey(statement.text(0) ?? ""), version: statement.text(1) ?? "", uid: statement.text(2),
                component: statement.text(3), summary: statement.text(4), start: statement.text(5),
                end: statement.text(6), rule: statement.text(7), content: statement.blob(8))
            guard try body(object) else { return }
        }
    }

    /// Reads the known shares one after the other, by their ids.
    /// - Parameter body: A function that receives each share and returns false to end early.
    /// - Throws: What `body` throws.
    public func eachShare(_ body: (CachedShare) throws -> Bool) throws {
        let fields = [
            "direction", "path", "shareType", "owner", "sharedWith", "permissions", "expiration", "url", "state",
        ]
        let statement = try RawStatement(
            db,
            """
            SELECT key, \(fields.map { "nullif(value, '') ->> '$.\($0)'" }.joined(separator: ", "))
            FROM records WHERE collection = 'shares' ORDER BY key
            """)
        defer { statement.reset() }
        while try statement.step() {
            let share = CachedShare(
                id: RecordKey(statement.text(0) ?? ""), direction: statement.text(1), path: statement.text(2),
                shareType: statement.given(3), owner: statement.text(4), sharedWith: statement.text(5),
                permissions: statement.given(6), expiration: statement.text(7), url: statement.text(8),
                state: statement.given(9))
            guard try body(share) else { return }
        }
    }

    /// Returns the ids of all shares, by the paths of the shared items.
    public func sharesByPath() throws -> [ItemPath: [RecordKey]] {
        var keys: [ItemPath: [RecordKey]] = [:]
        let shares = try rows("SELECT sharedPath, key FROM records WHERE sharedPath IS NOT NULL ORDER BY key") {
            (ItemPath(unchecked: $0.text(0) ?? ""), RecordKey($0.text(1) ?? ""))
        }
        for (path, key) in shares { keys[path, default: []].append(key) }
        return keys
    }

    /// Returns the ids of the shares of the item at a path. An index serves the query.
    public func shares(of path: ItemPath) throws -> [RecordKey] {
        let statement = try RawStatement(db, "SELECT key FROM records WHERE sharedPath = ? ORDER BY key")
        defer { statement.reset() }
        statement.bind(1, path.text)
        var keys: [RecordKey] = []
        while try statement.step() { keys.append(RecordKey(statement.text(0) ?? "")) }
        return keys
    }
}

extension DatabaseReads {
    /// The records that event loops cached, in collections.
    public var records: RecordTable<Self> { RecordTable(access: self) }
}
