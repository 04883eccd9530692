import ItemList
public import Model
import SyncEngine

/// Commands about the records in the sync engine's journal.
public enum Records {
    /// Removes a record from the journal and undoes what was done for it.
    /// - Throws: `.notFound` if there is no such record; `.failed` if its file is being put in place at this moment.
    public struct Cancel: AccountCommand {
        public static let name = "sync-cancel"

        /// The id of the record.
        public var id: SyncRecordID

        /// Creates the command.
        public init(_ id: SyncRecordID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Done {
            try await host.failing {
                try await host.engine.cancel(id)
                // A move that is taken back moves the copies back.
                try await host.list.carryOutMoves()
                return Done()
            }
        }
    }

    /// Lets a waiting or failed record go on.
    /// - Throws: `.notFound` if there is no such record.
    public struct Retry: AccountCommand {
        public static let name = "sync-retry"

        /// The id of the record.
        public var id: SyncRecordID

        /// Creates the command.
        public init(_ id: SyncRecordID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Done {
            try await host.failing {
                try await host.engine.retry(id)
                return Done()
            }
        }
    }
}
