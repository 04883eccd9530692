import Database
public import Model
import Vault

extension AccountReader {
    /// The event loops, in the order in which they are polled. When each is polled next is known while a host runs.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; see ``DatabaseReads``.
    public func loops() async throws(Failure) -> [LoopState] {
        var loops = try await read { try $0.loops.all() }
        guard !Vault.isInUse(at: bookmark.vault) else { return loops }
        for index in loops.indices { loops[index].nextPoll = nil }
        return loops
    }

    /// The calendars that are known, by their ids.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; see ``DatabaseReads``.
    public func calendars() async throws(Failure) -> [CachedCalendar] { try await read { try $0.records.calendars() } }

    /// Reads the objects of a calendar that are here, one after the other.
    /// - Parameters:
    ///   - withContent: Whether the objects themselves are read; they come by id then, else by their start.
    ///   - body: called on a thread of the database; it may block.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; what came is not all then.
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

    /// Reads the shares that are known, one after the other, by their ids.
    /// - Parameter body: called on a thread of the database; it may block.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`; what came is not all then.
    public func shares(_ body: @escaping @Sendable (CachedShare) -> Void) async throws(Failure) {
        try await read { tx in
            try tx.records.eachShare { share in
                body(share)
                return true
            }
        }
    }
}
