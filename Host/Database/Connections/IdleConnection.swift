import GRDBSQLite
import Synchronization

/// A connection that waits for the next read session. Opening one reads the schema, and the pages that it keeps are good for as
/// long as nothing is written.
final class IdleConnection: Sendable {
    /// Of the `sqlite3`, which belongs to nobody else while it is here; 0: there is none.
    private let address = Mutex<UInt>(0)

    func take() -> OpaquePointer? { OpaquePointer(bitPattern: exchange(for: 0)) }

    /// - Parameter connection: without statements and outside of a transaction.
    func put(_ connection: OpaquePointer) {
        sqlite3_close_v2(OpaquePointer(bitPattern: exchange(for: UInt(bitPattern: connection))))
    }

    func close() { sqlite3_close_v2(take()) }

    deinit { close() }

    private func exchange(for new: UInt) -> UInt {
        address.withLock { address in
            defer { address = new }
            return address
        }
    }
}
