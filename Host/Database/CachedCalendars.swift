public import Model

extension DatabaseReads {
    /// The calendars that are known, by their keys.
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
    ///   - withContent: Whether the objects themselves are read; they come by key then, else by their start.
    ///   - body: Returns false to end early.
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
}
