import GRDB
public import Model

/// A reader of one state of the database. Extensions give its tables, one file for each subject.
///
/// A value is valid on the thread, and for the duration, of the closure that receives it.
///
/// Every function of a table that throws may throw SQLite's error, as GRDB's `DatabaseError`, besides what its own
/// comment names. When the error leaves the closure of ``Database/read(_:)`` or ``Database/write(_:)``, it becomes a
/// `Failure`: `.localIO` if the disk is full, or the file is damaged or cannot be read or written; `.vaultLocked` if
/// another program has the database locked; else `.internal`.
public protocol DatabaseReads {
    /// The connection that the tables use.
    var connection: DatabaseConnection { get }
}

/// A connection on which only this module runs SQL.
public struct DatabaseConnection {
    let db: GRDB.Database
}

extension DatabaseReads {
    var db: GRDB.Database { connection.db }
}

/// A state of the database that no later write changes.
public struct ReadTransaction: DatabaseReads {
    /// The connection that the tables use.
    public let connection: DatabaseConnection

    init(db: GRDB.Database) { connection = DatabaseConnection(db: db) }
}

/// A transaction under way. A function that writes an item's row notes the change and writes ``anchor`` into the row.
public final class Transaction: DatabaseReads {
    /// The connection that the tables use.
    public let connection: DatabaseConnection
    private var nextAnchor: Int64?
    /// The number that the next new item's row gets; nil until there is one.
    private var nextItemRow: Int64?
    private var notes = CommitChanges()
    private var policyChanges = NotedPolicyChanges()
    /// The items that policies keep here. The value is nil until its first use, and again after policies change.
    var kept: KeptItems?

    init(db: GRDB.Database) { connection = DatabaseConnection(db: db) }

    /// The number of this transaction among the transactions of which readers of changes are told. Every item's row that
    /// the transaction writes carries the number.
    public var anchor: Int64 {
        get throws {
            if let nextAnchor { return nextAnchor }
            let next = try (meta.integer(.anchor) ?? 0).adding(1)
            nextAnchor = next
            return next
        }
    }

    /// Takes numbers for the rows of new items. No number is given twice, also if its row was deleted, so that a reader of
    /// changes never takes one item for another.
    /// - Parameter count: How many numbers are taken, one after the other.
    /// - Returns: The first one.
    func takeItemRows(_ count: Int64 = 1) throws -> Int64 {
        let first = try nextItemRow ?? items.highestRow().adding(1)
        nextItemRow = first.adding(count)
        return first
    }

    /// Notes that the item with this `databaseID` is new.
    func noteAdded(_ databaseID: ItemRowID) { notes.added.append(databaseID) }
    func noteUpdated(_ databaseID: ItemRowID) { notes.updated.append(databaseID) }
    /// Notes that the item is flagged as removed, or that its row is deleted.
    func noteRemoved(_ databaseID: ItemRowID) { notes.removed.append(databaseID) }

    /// Notes a policy's change. All changes by one author become one row of the policies' history, written with the
    /// transaction.
    func notePolicyChange(before: ItemPolicy?, after: ItemPolicy?, by author: PolicyAuthor, runsTrigger: Bool) {
        policyChanges.note(PolicyDifference(before: before, after: after), by: author, isQuiet: !runsTrigger)
        notePoliciesChanged(runsTrigger: runsTrigger)
    }

    /// Notes that policies changed.
    /// - Parameter runsTrigger: Whether the processors' trigger `policiesChanged` follows.
    func notePoliciesChanged(runsTrigger: Bool) {
        notes.policiesChanged = true
        kept = nil
        if runsTrigger { notes.triggersPolicies = true }
    }

    func noteRecordsChanged() { notes.recordsChanged = true }
    /// Notes that a record left the journal, or waits for something.
    func noteRest(of record: SyncRecordID) { notes.restingRecords.append(record) }
    func noteClaimsChanged() { notes.claimsChanged = true }
    func noteIssuesChanged() { notes.issuesChanged = true }
    func noteLoopsChanged() { notes.loopsChanged = true }
    /// Notes that readers of the change feed are told something that wakes nobody else.
    func noteLogged() { notes.isLogged = true }
    func noteChange(of collection: RecordCollection) {
        notes.collections.insert(collection)
        if collection.isCalendars, collection != .calendars { notes.calendarObjects += 1 }
    }
    /// Notes that folders were left for a scan, which nothing else brings about.
    public func noteFoldersLeft() { notes.leavesFolders = true }
    /// Notes that an item moved.
    /// - Parameter isFound: Whether the server had moved it.
    func noteMove(isFound: Bool) {
        notes.moves += 1
        if isFound { notes.foundMoves += 1 }
    }
    /// Notes that a place in the tree is free now, for which a move of the tree may have waited.
    public func noteFreedPlace() { notes.freesPlaces = true }
    /// Notes that the copy of a file was removed.
    public func noteRemovedCopy() { notes.removedCopies += 1 }

    /// The error of a transaction that cannot be committed any more.
    struct Broken: Error {
        let reason: any Error
    }

    /// Runs a part of the transaction. If it throws, nothing of it is written or noted.
    /// - Throws: What `body` throws; ``Broken`` if the transaction cannot be committed any more.
    func alone<T>(_ body: () throws -> T) throws -> T {
        let before = (nextAnchor, notes, policyChanges, kept)
        try RawStatement(db, "SAVEPOINT part").run()
        do {
            let result = try body()
            try RawStatement(db, "RELEASE part").run()
            return result
        } catch {
            (nextAnchor, notes, policyChanges, kept) = before
            // A full disk, for example, has ended the transaction.
            guard db.isInsideTransaction else { throw Broken(reason: error) }
            do {
                try RawStatement(db, "ROLLBACK TO part").run()
                try RawStatement(db, "RELEASE part").run()
            } catch {
                throw Broken(reason: error)
            }
            throw error
        }
    }

    /// Writes the anchor and the policies' history. The function must be called once, at the end.
    func storeNotes() throws {
        for step in policyChanges.steps { try policies.append(.step(step)) }
        if let nextItemRow { try meta.set(.lastItemRow, nextItemRow - 1) }
        guard notes.isTold else { return }
        let anchor = try anchor
        let hasOthers = try notes.changesOthers && notedChanges.store(anchor)
        guard notes.changesItems || hasOthers else { return }
        if notes.changesItems { notes.anchor = anchor }
        try meta.set(.anchor, anchor)
    }

    /// The changes that the transaction has noted so far, as the observer will receive them; nil if there are none.
    public var changes: CommitChanges? { notes == CommitChanges() ? nil : notes }
}

/// A summary of what a committed transaction changed.
public struct CommitChanges: Hashable, Sendable {
    /// The anchor of the changed items; 0 if no item was changed.
    public var anchor: Int64 = 0
    /// The `databaseID`s of added items, in the order of the changes. An item may occur more than once.
    public var added: [ItemRowID] = []
    /// The `databaseID`s of updated items, in the order of the changes. An item may occur more than once.
    public var updated: [ItemRowID] = []
    /// The `databaseID`s of removed items, in the order of the changes. An item may occur more than once.
    public var removed: [ItemRowID] = []
    /// Whether a policy changed.
    public var policiesChanged = false
    /// Whether the processors' trigger `policiesChanged` follows.
    public var triggersPolicies = false
    /// Whether sync records changed. Records that were merely started, made ready again, or held or released by time do
    /// not count.
    public var recordsChanged = false
    /// The sync records that left the journal, or that were written with something that they wait for.
    public var restingRecords: [SyncRecordID] = []
    /// Whether folders were left for a scan that nothing else brings about.
    public var leavesFolders = false
    /// Whether a place in the tree is free now, for which a move of the tree may have waited.
    public var freesPlaces = false
    /// Whether a claim was added or removed.
    public var claimsChanged = false
    /// Whether an issue changed.
    public var issuesChanged = false
    /// Whether an event loop was added, removed, enabled or disabled, or has another event id.
    public var loopsChanged = false
    /// Whether something was written that only readers of the change feed are told.
    var isLogged = false
    /// The collections in which a record was added, changed or removed. A collection that was removed together with the
    /// record that it belongs to is not included.
    public var collections: Set<RecordCollection> = []
    /// The number of items that have another path on the server. The items below a moved folder are not counted.
    public var moves = 0
    /// How many of these the server had moved by itself, or for somebody else.
    public var foundMoves = 0
    /// The number of files whose copies were removed.
    public var removedCopies = 0
    /// The number of calendar objects that were added, changed or removed. Objects that were removed together with
    /// their calendar are not counted.
    public var calendarObjects = 0

    /// Creates a summary without changes.
    public init() {}

    /// Whether readers of the change feed are told something of the transaction.
    public var isTold: Bool { changesItems || changesOthers }

    /// Whether the transaction may have changed something of which the change feed tells, besides items.
    var changesOthers: Bool { recordsChanged || issuesChanged || loopsChanged || isLogged }

    /// Whether the transaction changed any item.
    public var changesItems: Bool { !(added.isEmpty && updated.isEmpty && removed.isEmpty) }
}
