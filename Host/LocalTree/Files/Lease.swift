import CLinux
import Glibc
import Threads

/// The kernel's word that nobody else writes a file, or has it open at all, and that nobody will before this ends.
///
/// Whoever wants to meanwhile waits in `open` until the lease ends (`fcntl(2)`, Leases). It is held for moments.
package struct Lease: ~Copyable {
    package enum Kind {
        /// Nobody has the file open for writing or mapped for writing.
        case unwritten
        /// Nobody has the file open or mapped.
        case unused
    }

    package enum Denial: Error {
        /// Somebody has the file open.
        case inUse
        /// Not the file's owner, or a file system without leases.
        case unavailable
    }

    private let file: Int32
    private let type: Int32

    /// Takes the lease.
    /// - Parameter file: Opened for reading only.
    /// - Throws: `.inUse` if somebody has the file open so, `.unavailable` if there are no leases for it.
    package init(_ file: Int32, _ kind: Kind) throws(Denial) {
        ProcessSetup.perform()
        self.file = file
        type = Int32(kind == .unused ? F_WRLCK : F_RDLCK)
        guard linux_set_lease(file, type) == 0 else {
            throw errno == EAGAIN || errno == EBUSY ? .inUse : .unavailable
        }
    }

    deinit { _ = linux_set_lease(file, Int32(F_UNLCK)) }

    /// False when somebody waits to open the file, or had waited too long.
    package var isUncontested: Bool { linux_get_lease(file) == type }
}
