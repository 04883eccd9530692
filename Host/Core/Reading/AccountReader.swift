import Connection
import Database
import ItemList
import LocalTree
public import Model
import SyncEngine
import Vault

/// A reader of what the database knows of an account. It needs no network and works beside a running host.
public struct AccountReader: Sendable {
    let bookmark: Bookmark
    let clock: HostClock
    let database: Database
    var files: String { bookmark.files }

    /// Opens the database for reading.
    /// - Throws: `.notFound` if the account has no database yet, `.localIO` if the database cannot be read or the
    ///   process may not read it.
    public static func open(_ bookmark: Bookmark, clock: HostClock = .system) throws(Failure) -> AccountReader {
        let database = try Vault.openDatabaseForReading(at: bookmark.vault)
        do {
            let sanity = try database.readBlocking { try ClockSanity($0, clock: clock) }
            return AccountReader(bookmark: bookmark, clock: clock.believed { sanity }, database: database)
        } catch {
            // The first error is the one to report.
            try? database.close()
            throw Failure(of: error)
        }
    }

    /// Closes the database. No read may be in progress, and none may follow.
    /// - Throws: As ``Database/close()``.
    public func close() throws(Failure) { try database.close() }

    /// Reads, and closes the database afterwards, also if the body throws. Closing blocks.
    /// - Throws: The body's error; else as ``close()``.
    public func close<Value>(
        after body: (AccountReader) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let value: Value
        do throws(Failure) { value = try await body(self) } catch {
            // The first error is the one to report.
            try? close()
            throw error
        }
        try close()
        return value
    }

    /// Reads the items of a query one after the other, all from one state of the database.
    /// - Parameters:
    ///   - query: The items to read.
    ///   - body: Receives each item and returns false to stop early. It is called on a thread of the database and may
    ///     block.
    /// - Throws: `.notFound` if no item has the query's path, and as ``status()``. The items that `body` received are
    ///   then not all.
    public func items(_ query: ItemQuery, _ body: @escaping @Sendable (ItemReport) -> Bool) async throws(Failure) {
        try await read { tx in
            let standing = try ItemStanding(tx, now: query.now)
            let condition = try query.condition?.resolved {
                try ConditionFacts(tx, world: ClaimWorld.current(now: query.now))
            }
            let root = try tx.items.item(at: query.path)
            if root == nil, !query.path.isRoot { throw Failure.noItem(query.path) }
            if let root, root.kind == .file {
                let isWanted = condition?.matches(root, now: query.now) ?? true
                if isWanted, query.limit != 0 { _ = body(try standing.report(root, tx, files: files)) }
                return
            }
            try tx.items.each(query.listing(condition)) { body(try standing.report($0, tx, files: files)) }
        }
    }

    /// Returns the item at a path.
    /// - Throws: `.notFound` if no item has the path, and as ``status()``.
    public func item(at path: ItemPath) async throws(Failure) -> ItemReport {
        try await read { tx in
            guard let item = try tx.items.item(at: path) else { throw Failure.noItem(path) }
            return try ItemStanding(tx, now: clock.agesTo()).report(item, tx, files: files)
        }
    }

    /// Returns a path in the spelling in which its items are listed, which may differ in Unicode's normalization form.
    /// - Throws: As ``status()``.
    public func spelling(of path: ItemPath) async throws(Failure) -> ItemPath {
        try await read { try $0.items.spelling(of: path) }
    }

    /// Returns the item at a path, or else the item that was removed from there last; nil if there is none.
    /// - Throws: As ``status()``.
    public func lastItem(at path: ItemPath) async throws(Failure) -> ItemReport? {
        try await read { tx in
            try tx.items.lastItem(at: path).map {
                try ItemStanding(tx, now: clock.agesTo()).report($0, tx, files: files)
            }
        }
    }

    /// Tells whether the account's server is of the ownCloud family, or is not known.
    /// - Throws: As ``status()``.
    public func mayHaveFamilyServer() async throws(Failure) -> Bool {
        let bookmark = bookmark
        return try await read { tx in
            guard let known = try tx.meta.json(KnownServer.self, .server), known.isOf(bookmark) else { return true }
            return known.isOwnCloudFamily
        }
    }

    /// Returns the policies, the oldest first, with the number and size of the items that each covers.
    /// - Parameters:
    ///   - kind: The kind of the policies to return; nil returns all kinds.
    ///   - path: The path of an item; only the policies that concern this item are returned. Nil returns all.
    ///   - includesInternal: Whether internal policies are returned too.
    /// - Throws: `.notFound` if no item has the path, and as ``status()``.
    public func policies(
        kind: PolicyKind? = nil, concerning path: ItemPath? = nil, includesInternal: Bool = false
    ) async throws(Failure) -> [PolicyReport] {
        let now = clock.agesTo()
        return try await read { tx in
            var policies = try tx.policies.all(kind: kind, includesInternal: includesInternal)
            if let path {
                guard let item = try tx.items.item(at: path) else { throw Failure.noItem(path) }
                policies = try tx.policies.all(
                    kind: kind, affecting: item, now: now, includesInternal: includesInternal)
            }
            return try policies.map { policy in
                let (items, bytes) = try tx.policies.coverage(of: policy, now: now)
                return PolicyReport(policy, items: items, bytes: bytes)
            }
        }
    }

    /// Returns the ids of the policies, the oldest first, without internal ones.
    /// - Throws: As ``issues(limit:)``.
    public func policyIDs() async throws(Failure) -> [PolicyID] {
        try await read { try $0.policies.all(kind: nil, includesInternal: false).map(\.id) }
    }

    /// Reads the sync records one after the other, the oldest first.
    /// - Parameter body: Receives each record. It is called on a thread of the database and may block.
    /// - Throws: As ``issues(limit:)``, and `.internal` if a record makes no sense. The records that `body` received
    ///   are then not all.
    public func records(_ body: @escaping @Sendable (SyncRecordReport) -> Void) async throws(Failure) {
        let bookmark = bookmark
        try await read { tx in
            let incoming = IncomingSizes(Vault.incomingFiles(at: bookmark.vault, files: bookmark.files))
            var lanes = Lanes()
            try tx.journal.each { journal in
                if journal.holdsLane {
                    lanes.add(
                        journal.id, localID: journal.localID, path: journal.path, otherPath: journal.action.otherPath)
                }
                body(
                    SyncRecordReport(
                        record: journal, lane: lanes.lane(of: journal.id) ?? journal.id,
                        progress: try incoming.progress(of: journal, in: tx)))
                return true
            }
        }
    }

    /// Returns the issues, which wait for a person's decision, the oldest first.
    /// - Parameter limit: The highest number of issues to return; nil returns all.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; see ``DatabaseReads``.
    public func issues(limit: Int? = nil) async throws(Failure) -> [Issue] {
        try await read { try $0.issues.all(limit: limit) }
    }

    /// Returns whether the server can be reached; `offline` while no host runs.
    /// - Throws: As ``issues(limit:)``.
    public func connection() async throws(Failure) -> ConnectionState {
        guard Vault.isInUse(at: bookmark.vault) else { return .offline }
        return try await read { try $0.meta.text(.connection).flatMap(ConnectionState.init) } ?? .offline
    }

    /// Returns the state of the account.
    /// - Throws: `.localIO` if the database is damaged or cannot be read, `.vaultLocked` if another program has locked
    ///   the database, `.badData` if a stored policy's condition does not parse, `.failed` if the task is cancelled,
    ///   otherwise `.internal`.
    public func status() async throws(Failure) -> AccountStatus {
        try await status(countsPolicies: true) { Vault.isInUse(at: bookmark.vault) }
    }

    /// Returns the state of the account.
    /// - Parameters:
    ///   - countsPolicies: Whether the policies are among it, whose items take time to count.
    ///   - isRunning: Tells whether a host runs for the account. The host itself must not look at its vault's locks.
    /// - Throws: As ``status()``.
    func status(countsPolicies: Bool, isRunning: () -> Bool) async throws(Failure) -> AccountStatus {
        let account = bookmark.name
        var status = try await read { tx in
            var status = AccountStatus(account: account)
            status.lastConnection = try tx.meta.text(.connection).flatMap(ConnectionState.init)
            status.connection = status.lastConnection ?? .offline
            status.connectionProblem = try tx.meta.text(.connectionProblem)
            let position = try tx.tombstones.position()
            (status.epoch, status.anchor) = (position.epoch, position.anchor)
            let counts = try tx.items.counts()
            status.items = counts.items
            status.localCopies = counts.here.localCopies
            status.localBytes = counts.here.localBytes
            status.locallyChanged = counts.here.locallyChanged
            status.records = try tx.journal.counts()
            status.issues = try tx.issues.count()
            status.nextPoll = try tx.meta.time(.nextPoll)
            status.pause = try tx.meta.json(AccountPause.self, .pause)
            status.refusal = try tx.meta.json(AuthenticationFailure.self, .refusal)
            status.server = try tx.meta.json(KnownServer.self, .server).map(ServerReport.init)
            let history = try tx.scanHistory()
            (status.lastScan, status.etagsWereWrong) = (history.lastScan, history.etagsWereWrong)
            status.etagDaysLeft = history.etags.daysLeft
            status.loops = try tx.loops.all()
            status.plugins = try tx.pluginNotes()
            return status
        }
        if countsPolicies { status.policies = try await policies() }
        // The last host's notes hold only while that host runs.
        status.isRunning = isRunning()
        status.plugins.isRunning = status.isRunning
        if !status.isRunning {
            status.connection = .offline
            status.nextPoll = nil
            // A running host ends its pause itself, by a clock that nobody sets.
            if status.pause?.left(at: clock.now()) == .zero { status.pause = nil }
            status.refusal?.nextTry = nil
            for index in status.loops.indices { status.loops[index].nextPoll = nil }
            status.plugins.started = []
        }
        status.trouble = Self.trouble(of: bookmark, clock)
        return status
    }

    /// Returns the reason why an account of a running host does not go on; nil if there is none. This function does not
    /// read the database, which may itself be the reason.
    public static func trouble(of bookmark: Bookmark, _ clock: HostClock = .system) -> AccountTrouble? {
        Vault.trouble(at: bookmark.vault, now: clock.now()).map {
            AccountTrouble(message: $0.message, hint: $0.hint, nextTry: $0.nextTry)
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> T) async throws(Failure) -> T {
        do {
            return try await database.read(body)
        } catch {
            throw Failure(of: error)
        }
    }
}
