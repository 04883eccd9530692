import GRDBSQLite
import Synchronization

/// A connection that waits for the next read session. A reused connection need not read the schema again, and its
/// cached pages stay valid as long as nothing is written.
final class IdleConnection: Sendable {
    /// The address of the `sqlite3`, which has no other user while the address is stored here. 0 means that there is
    /// none.
    private let address = Mutex<UInt>(0)

    func take() -> OpaquePointer? { OpaquePointer(bitPattern: exchange(for: 0)) }

    /// Stores a connection for the next session and closes the connection stored before, if any.
    /// - Parameter connection: A connection without statements and outside of a transaction.
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
