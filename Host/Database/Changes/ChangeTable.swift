import GRDB
public import Model

/// The changes of sync records, issues, event loops and plugins that are kept for readers of the change feed.
///
/// Triggers of the writing connection collect the changes of rows in a table in memory, and a transaction stores them as
/// one row when it ends.
public struct ChangeTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the transactions after an anchor that changed something else than items, in their order.
    /// - Parameter limit: The number of changes after which no further transaction is read. The first one is read whole.
    /// - Returns: The transactions, and whether there are more.
    /// - Throws: `.internal` if a row makes no sense.
    public func after(_ anchor: Int64, limit: Int) throws -> (transactions: [NotedChanges], isCut: Bool) {
        // The number of a row counts the changes up to the end of its transaction.
        let last = try integer(
            """
            SELECT anchor FROM changes
            WHERE number >= ?2 + (SELECT number FROM changes WHERE anchor > ?1 ORDER BY anchor LIMIT 1)
            ORDER BY number LIMIT 1
            """, .integer(anchor), .integer(Int64(limit)))
        return (try all(after: anchor, upTo: last ?? .max), last != nil)
    }

    /// Returns the transactions after an anchor, up to another one, that changed something else than items.
    /// - Throws: `.internal` if a row makes no sense.
    func all(after anchor: Int64, upTo last: Int64 = .max) throws -> [NotedChanges] {
        try rows(
            "SELECT anchor, notes FROM changes WHERE anchor > ? AND anchor <= ? ORDER BY anchor",
            [.integer(anchor), .integer(last)]
        ) { row in
            guard case .array(let lists)? = try? JSONValue(parsing: row.text(1) ?? "") else {
                throw Failure(.internal, "The changes of a transaction cannot be read")
            }
            return NotedChanges(anchor: row.integer(0) ?? 0, changes: lists.compactMap(NotedChange.init))
        }
    }
}

extension ChangeTable where Access == Transaction {
    /// Notes that a plugin has another state.
    /// - Parameter reason: Why it is in that state; nil if no reason is known.
    public func note(_ plugin: PluginID, state: String, reason: String?) throws {
        try run(
            "INSERT INTO temp.noted (subject, change, id, first, second, third) VALUES ('plugin', 'updated', 0, ?, ?, ?)",
            .text(plugin.text), .text(state), reason.map { .text($0) } ?? .null)
        access.noteLogged()
    }

    /// Stores what was collected as the changes of a transaction.
    /// - Returns: Whether there was anything.
    func store(_ anchor: Int64) throws -> Bool {
        try run(
            """
            INSERT INTO changes (number, anchor, notes)
            SELECT coalesce((SELECT max(number) FROM changes), 0) + count(*), ?, json_group_array(json_array(subject, change, id, first, second, third))
            FROM (SELECT * FROM temp.noted ORDER BY number) GROUP BY NULL
            """, .integer(anchor))
        guard changedRows > 0 else { return false }
        try run("DELETE FROM temp.noted")
        return true
    }
}

/// The triggers that collect changes on the connection that writes.
enum NotedChangeTriggers {
    /// A record that is merely started, or made ready again, is not noted: few want to hear that, and it would be the most
    /// frequent of all changes.
    static let sql = """
        CREATE TEMP TABLE noted (
          number INTEGER PRIMARY KEY NOT NULL,
          subject TEXT NOT NULL, change TEXT NOT NULL, id INTEGER NOT NULL, first TEXT, second TEXT, third TEXT
        );
        CREATE TEMP TRIGGER noted_record_added AFTER INSERT ON main.syncRecords BEGIN
          INSERT INTO noted (subject, change, id, first, second) VALUES ('record', 'added', NEW.id, NEW.action, NEW.path);
        END;
        CREATE TEMP TRIGGER noted_record_updated
        AFTER UPDATE OF state, attempts, waitVersion, waitIssue, waitPlace ON main.syncRecords
        WHEN OLD.attempts <> NEW.attempts OR OLD.waitVersion IS NOT NEW.waitVersion
          OR OLD.waitIssue IS NOT NEW.waitIssue OR OLD.waitPlace IS NOT NEW.waitPlace
          OR (OLD.state = \(SyncRecord.State.failed.rawValue)) <> (NEW.state = \(SyncRecord.State.failed.rawValue)) BEGIN
          INSERT INTO noted (subject, change, id, first, second) VALUES ('record', 'updated', NEW.id, NEW.action, NEW.path);
        END;
        CREATE TEMP TRIGGER noted_record_removed AFTER DELETE ON main.syncRecords BEGIN
          INSERT INTO noted (subject, change, id, first, second) VALUES ('record', 'removed', OLD.id, OLD.action, OLD.path);
        END;
        CREATE TEMP TRIGGER noted_issue_added AFTER INSERT ON main.issues BEGIN
          INSERT INTO noted (subject, change, id, first) VALUES ('issue', 'added', NEW.id, NEW.code);
        END;
        CREATE TEMP TRIGGER noted_issue_updated AFTER UPDATE ON main.issues
        WHEN OLD.record IS NOT NEW.record OR OLD.message <> NEW.message OR OLD.choices <> NEW.choices BEGIN
          INSERT INTO noted (subject, change, id, first) VALUES ('issue', 'updated', NEW.id, NEW.code);
        END;
        CREATE TEMP TRIGGER noted_issue_removed AFTER DELETE ON main.issues BEGIN
          INSERT INTO noted (subject, change, id, first) VALUES ('issue', 'removed', OLD.id, OLD.code);
        END;
        CREATE TEMP TRIGGER noted_loop_added AFTER INSERT ON main.loops BEGIN
          INSERT INTO noted (subject, change, id, first, second) VALUES ('loop', 'added', NEW.position, NEW.id, NEW.kind);
        END;
        CREATE TEMP TRIGGER noted_loop_updated AFTER UPDATE ON main.loops
        WHEN OLD.isEnabled <> NEW.isEnabled OR OLD.lastResult IS NOT NEW.lastResult OR OLD.lastError IS NOT NEW.lastError
          OR OLD.plugin <> NEW.plugin BEGIN
          INSERT INTO noted (subject, change, id, first, second) VALUES ('loop', 'updated', NEW.position, NEW.id, NEW.kind);
        END;
        CREATE TEMP TRIGGER noted_loop_removed AFTER DELETE ON main.loops BEGIN
          INSERT INTO noted (subject, change, id, first, second) VALUES ('loop', 'removed', OLD.position, OLD.id, OLD.kind);
        END;
        """
}

extension DatabaseReads {
    /// The changes of other things than items.
    public var notedChanges: ChangeTable<Self> { ChangeTable(access: self) }
}
