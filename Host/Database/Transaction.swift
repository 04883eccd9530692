import GRDB
public import Model

/// Access to one state of the database. What can be asked of it stands in extensions, one file a subject.
///
/// A value is valid on the thread, and for the duration, of the closure that it is given to.
///
/// Every function of a table may throw SQLite's error, as GRDB's `DatabaseError`. When it leaves the closure of
/// ``Database/read(_:)`` or ``Database/write(_:)`` it becomes a `Failure`: `.localIO` if the disk is full, or the file is
/// damaged or cannot be read or written; `.vaultLocked` if another program has it locked; else `.internal`.
public protocol DatabaseReads {
    var connection: DatabaseConnection { get }
}

/// What SQL is carried out on, in this room alone.
public struct DatabaseConnection {
    let db: GRDB.Database
}

extension DatabaseReads {
    var db: GRDB.Database { connection.db }
}

/// A state of the database that no later write changes.
public struct ReadTransaction: DatabaseReads {
    public let connection: DatabaseConnection

    init(db: GRDB.Database) { connection = DatabaseConnection(db: db) }
}

/// A transaction under way. Whoever writes an item's row in it notes that, and gives the row ``anchor``.
public final class Transaction: DatabaseReads {
    public let connection: DatabaseConnection
    private var nextAnchor: Int64?
    private var notes = CommitChanges()
    private var policyChanges = NotedPolicyChanges()
    /// What policies keep here, once it was asked; nil again when policies change.
    var kept: KeptItems?

    init(db: GRDB.Database) { connection = DatabaseConnection(db: db) }

    /// The number of this transaction among those that changed items, which every item's row that it writes carries.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public var anchor: Int64 {
        get throws {
            if let nextAnchor { return nextAnchor }
            let next = try (meta.integer(.anchor) ?? 0).adding(1)
            nextAnchor = next
            return next
        }
    }

    /// The item with this `databaseID` is new.
    func noteAdded(_ databaseID: ItemRowID) { notes.added.append(databaseID) }
    func noteUpdated(_ databaseID: ItemRowID) { notes.updated.append(databaseID) }
    /// The item is marked removed, or its row is gone.
    func noteRemoved(_ databaseID: ItemRowID) { notes.removed.append(databaseID) }

    /// What became of a policy. Each author's changes are one row of the journal, written with the transaction.
    func notePolicyChange(before: ItemPolicy?, after: ItemPolicy?, by author: PolicyAuthor, runsTrigger: Bool) {
        policyChanges.note(PolicyDifference(before: before, after: after), by: author, isQuiet: !runsTrigger)
        notePoliciesChanged(runsTrigger: runsTrigger)
    }

    /// - Parameter runsTrigger: Whether the processors' `policiesChanged` follows.
    func notePoliciesChanged(runsTrigger: Bool) {
        notes.policiesChanged = true
        kept = nil
        if runsTrigger { notes.triggersPolicies = true }
    }

    func noteRecordsChanged() { notes.recordsChanged = true }
    func noteIssuesChanged() { notes.issuesChanged = true }
    func noteLoopsChanged() { notes.loopsChanged = true }
    func noteChange(of collection: RecordCollection) {
        notes.collections.insert(collection)
        if collection.isCalendars, collection != .calendars { notes.calendarObjects += 1 }
    }
    func noteMove() { notes.moves += 1 }
    /// Notes that the copy of a file was removed.
    public func noteRemovedCopy() { notes.removedCopies += 1 }

    /// Writes what goes with the changes themselves. To be called once, at the end.
    func storeNotes() throws {
        for step in policyChanges.steps { try policies.append(.step(step)) }
        guard notes.changesItems else { return }
        notes.anchor = try anchor
        try meta.set(.anchor, notes.anchor)
    }

    /// What the transaction has noted so far, as its observer will get it; nil if nothing.
    public var changes: CommitChanges? { notes == CommitChanges() ? nil : notes }
}

/// What a committed transaction changed.
public struct CommitChanges: Hashable, Sendable {
    /// The anchor of the changed items; 0 if none was changed.
    public var anchor: Int64 = 0
    /// The `databaseID`s of items, in the order of the changes. An item may be named more than once.
    public var added: [ItemRowID] = []
    public var updated: [ItemRowID] = []
    public var removed: [ItemRowID] = []
    public var policiesChanged = false
    /// Whether the processors' `policiesChanged` follows.
    public var triggersPolicies = false
    public var recordsChanged = false
    public var issuesChanged = false
    /// Whether an event loop came, went, was switched or has another event id.
    public var loopsChanged = false
    /// The collections of which a record came, changed or went. One that went with the record that it belongs to is not named.
    public var collections: Set<RecordCollection> = []
    /// Items that are at another path on the server; of a folder, only it.
    public var moves = 0
    /// Files whose copies were removed.
    public var removedCopies = 0
    /// Objects of calendars that came, changed or went; not those that went with their calendar.
    public var calendarObjects = 0

    public init() {}

    public var changesItems: Bool { !(added.isEmpty && updated.isEmpty && removed.isEmpty) }
}
