public import Model
import SyncEngine

/// What the sync engine's journal holds.
public enum Records {
    /// Takes a record out of the journal, and takes back what was done for it.
    /// - Throws: `.notFound` if there is none; `.failed` if its file is being put in place at this moment.
    public struct Cancel: AccountCommand {
        public var id: SyncRecordID

        public init(_ id: SyncRecordID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) {
            try await host.failing { try await host.engine.cancel(id) }
        }
    }

    /// Lets a record that waits or failed go on.
    /// - Throws: `.notFound` if there is none.
    public struct Retry: AccountCommand {
        public var id: SyncRecordID

        public init(_ id: SyncRecordID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) {
            try await host.failing { try await host.engine.retry(id) }
        }
    }
}
