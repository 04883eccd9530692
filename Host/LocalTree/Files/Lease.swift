import CLinux
import Glibc
import Threads

/// A lease on a file (`fcntl(2)`, Leases). The kernel grants it only if no other program writes the file, or has it
/// open at all, and no program can begin to before the lease ends.
///
/// A program that wants to open the file in a conflicting way waits in `open` until the lease ends. A lease is held for
/// moments only.
package struct Lease: ~Copyable {
    package enum Kind {
        /// A lease that is granted if nobody has the file open for writing or mapped for writing.
        case unwritten
        /// A lease that is granted if nobody has the file open or mapped.
        case unused
    }

    package enum Denial: Error {
        /// Somebody has the file open.
        case inUse
        /// The process is not the file's owner, or the file system has no leases.
        case unavailable
    }

    private let file: Int32
    private let type: Int32

    /// Takes the lease.
    /// - Parameter file: A descriptor that was opened for reading only.
    /// - Throws: `.inUse` if somebody has the file open in a conflicting way, `.unavailable` if there are no leases for
    ///   the file.
    package init(_ file: Int32, _ kind: Kind) throws(Denial) {
        ProcessSetup.perform()
        self.file = file
        type = Int32(kind == .unused ? F_WRLCK : F_RDLCK)
        guard linux_set_lease(file, type) == 0 else {
            throw errno == EAGAIN || errno == EBUSY ? .inUse : .unavailable
        }
    }

    deinit { _ = linux_set_lease(file, Int32(F_UNLCK)) }

    /// Whether the lease is still held in full. False if somebody waits to open the file, or has waited so long that
    /// the kernel ended the lease.
    package var isUncontested: Bool { linux_get_lease(file) == type }
}
