import Database
public import Model
import Vault

extension AccountReader {
    /// Returns the event loops in the order in which they are polled. The time of a loop's next poll is known only
    /// while a host runs.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; see ``DatabaseReads``.
    public func loops() async throws(Failure) -> [LoopState] {
        var loops = try await read { try $0.loops.all() }
        guard !Vault.isInUse(at: bookmark.vault) else { return loops }
        for index in loops.indices { loops[index].nextPoll = nil }
        return loops
    }

    /// Returns the cached calendars, sorted by id.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; see ``DatabaseReads``.
    public func calendars() async throws(Failure) -> [CachedCalendar] { try await read { try $0.records.calendars() } }

    /// Reads the cached objects of a calendar, one after the other.
    /// - Parameters:
    ///   - calendar: The id of the calendar.
    ///   - withContent: Whether the content of the objects is read too. With content the objects are sorted by id,
    ///     otherwise by their start.
    ///   - body: Receives each object. It is called on a thread of the database and may block.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`. The objects that `body` received
    ///   are then not all.
    public func objects(
        of calendar: RecordKey, withContent: Bool, _ body: @escaping @Sendable (CachedCalendarObject) -> Void
    ) async throws(Failure) {
        try await read { tx in
            try tx.records.eachObject(of: calendar, withContent: withContent) { object in
                body(object)
                return true
            }
        }
    }

    /// Reads the cached shares, one after the other, sorted by id.
    /// - Parameter body: Receives each share. It is called on a thread of the database and may block.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`. The shares that `body` received
    ///   are then not all.
    public func shares(_ body: @escaping @Sendable (CachedShare) -> Void) async throws(Failure) {
        try await read { tx in
            try tx.records.eachShare { share in
                body(share)
                return true
            }
        }
    }
}
