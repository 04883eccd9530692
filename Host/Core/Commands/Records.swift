import Database
import ItemList
public import Model
import SyncEngine

/// Commands about the records in the sync engine's journal.
public enum Records {
    /// Removes a record from the journal and undoes what was done for it. A change about which the server was asked stays,
    /// as one that is being cancelled, until the server has told what it has made of it.
    /// - Throws: `.notFound` if there is no such record; `.failed` if its file is being put in place at this moment.
    public struct Cancel: AccountCommand {
        public static let name = "sync-cancel"

        /// The id of the record.
        public var id: SyncRecordID

        /// Creates the command.
        public init(_ id: SyncRecordID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Done {
            try await host.failing {
                try await host.work.turn {
                    try await host.engine.cancel(id)
                    if try await isLeft(host) { try await askAlone(host) }
                } atWork: {
                    try await host.engine.cancel(id)
                    if try await isLeft(host) { _ = try await host.engine.wait(for: [id]) }
                }
                // A move that is taken back moves the copies back.
                try await host.list.carryOutMoves()
                return Done()
            }
        }

        private func isLeft(_ host: AccountHost) async throws -> Bool {
            try await host.database.read { [id] in try $0.journal.record(id: id) != nil }
        }

        /// Asks the server what it has made of the change, while no run does so. If it cannot be reached, the next run
        /// asks it.
        private func askAlone(_ host: AccountHost) async throws {
            try await host.recover()
            do throws(Failure) { try await host.reachServer(isAtWork: false) } catch { return }
            _ = try await host.engine.drain(only: [id], with: host.partners)
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
