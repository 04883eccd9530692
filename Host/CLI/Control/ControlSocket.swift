import Glibc
import Model

/// A socket on which a host listens for commands, in a folder that only its owner may enter.
struct ControlSocket: Sendable {
    /// The absolute path of the socket.
    let path: String
    /// The listening descriptor. Who uses the socket closes it.
    let descriptor: Int32
    /// The file of the socket.
    private let file: FileIdentity

    /// Makes a socket of this process's own in a folder, and listens. Sockets that a killed host left in the folder are
    /// removed. Blocks.
    /// - Parameter path: the absolute path of the folder. It is made if it is missing; the folder above it must exist.
    /// - Throws: `cannotCreate` if the folder is open to others, or if the system refuses.
    init(in path: String) throws(Failure) {
        let folder = try ControlFolder(making: path)
        // Of two hosts that start at once, neither removes the other's socket before the other listens.
        flock(folder.descriptor, LOCK_EX)
        defer { flock(folder.descriptor, LOCK_UN) }
        folder.removeStale()
        let name = "\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 16))\(ControlFolder.ending)"
        self.path = "\(path)/\(name)"
        descriptor = try Self.listen(folder.address(of: name), named: self.path)
        file = FileIdentity(of: self.path)
    }

    /// Whether the socket is where it was made, so that others can find it. Blocks.
    var isInPlace: Bool { FileIdentity(of: path) == file && file != FileIdentity() }

    private static func listen(_ address: String, named path: String) throws(Failure) -> Int32 {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        // The mode that the socket has before `bind` is the mode of the file, within the umask.
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, UnixAddress(address)?.call(bind, descriptor) == 0,
            Glibc.listen(descriptor, SOMAXCONN) == 0
        else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw Failure(.cannotCreate, "the control socket \(path) cannot be made: \(errorText(code))")
        }
        return descriptor
    }

    /// Removes the socket from its folder. Blocks.
    func remove() {
        guard let slash = path.lastIndex(of: "/") else { return }
        ControlFolder(opening: String(path[..<slash]))?.remove(String(path[path.index(after: slash)...]))
    }
}

/// What tells a file from another one at the same path; nothing if there is no file.
private struct FileIdentity: Equatable {
    private var device: dev_t = 0
    private var number: ino_t = 0

    init() {}

    init(of path: String) {
        var status = stat()
        if lstat(path, &status) == 0 { (device, number) = (status.st_dev, status.st_ino) }
    }
}

/// A folder of control sockets, open so that its sockets can be named however long its path is.
final class ControlFolder: Sendable {
    /// The ending of the sockets' names.
    static let ending = ".sock"

    let descriptor: Int32
    private let path: String

    /// Opens a folder. Fails, with the reason in `errno`, if there is no such folder or it cannot be opened.
    init?(opening path: String) {
        let number = Self.open(path)
        guard number >= 0 else { return nil }
        (descriptor, self.path) = (number, path)
    }

    /// Opens a folder, and makes it if it is missing.
    /// - Throws: `cannotCreate` if it cannot be made, or if others may enter it.
    init(making path: String) throws(Failure) {
        let isThere = mkdir(path, 0o700) == 0 || errno == EEXIST
        let number = isThere ? Self.open(path) : -1
        guard number >= 0 else {
            throw Failure(.cannotCreate, "the folder \(path) cannot be made: \(errorText(errno))")
        }
        (descriptor, self.path) = (number, path)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw Failure(
                .cannotCreate, "the folder \(path) belongs to somebody else, or others may enter it",
                hint: "remove it, or give it to the host's user with the mode 0700")
        }
    }

    deinit { close(descriptor) }

    private static func open(_ path: String) -> Int32 {
        Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Returns an address for a socket in the folder that is short enough for the system (unix(7)). It is valid as long
    /// as the folder is open.
    func address(of name: String) -> String {
        let whole = "\(path)/\(name)"
        return UnixAddress(whole) == nil ? "/proc/self/fd/\(descriptor)/\(name)" : whole
    }

    /// Removes the sockets on which nobody listens.
    func removeStale() {
        for name in sockets where isStale(name) { unlinkat(descriptor, name, 0) }
    }

    /// The names of the sockets, sorted.
    var sockets: [String] {
        let copy = dup(descriptor)
        guard let list = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            return []
        }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(Self.ending) { names.append(name) }
        }
        return names.sorted()
    }

    /// Whether a socket's host takes commands of this process: it is of this process's user, or this process is root's. A
    /// socket that is not there is nobody's.
    func isOfOneself(_ name: String) -> Bool {
        var status = stat()
        guard geteuid() != 0, fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return true }
        return status.st_uid == geteuid()
    }

    /// Removes a socket.
    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    private func isStale(_ name: String) -> Bool {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { return false }
        defer { close(number) }
        return UnixAddress(address(of: name))?.call(connect, number) == -1 && errno == ECONNREFUSED
    }
}

/// The address of a socket in the file system, in the form of the system's calls.
struct UnixAddress {
    private var address = sockaddr_un()

    /// Fails if the path is too long.
    init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            errno = ENAMETOOLONG
            return nil
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Calls `bind` or `connect`.
    func call(_ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
