import Glibc
import TestSupport

/// A connection to a Unix socket, on which a request is sent and the answer read piece by piece. Its calls block.
struct StreamSocket: ~Copyable {
    private let descriptor: Int32

    /// Connects, and sends a request.
    /// - Throws: `SetupError` if nobody listens there.
    init(to path: String, _ request: String) throws {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SetupError("no socket: errno \(errno)") }
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: name.prefix($0.count - 1)) }
        let isOpen = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        let bytes = Array(request.utf8)
        guard isOpen, send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            let code = errno
            close(number)
            throw SetupError("nobody listens at \(path): errno \(code)")
        }
        descriptor = number
    }

    deinit { close(descriptor) }

    /// Waits for bytes, but no longer than 20 ms.
    /// - Returns: At most `most` bytes; none if none have come, and nil if no more will.
    func read(atMost most: Int) -> [UInt8]? {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, 20) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: most)
        let count = recv(descriptor, &bytes, most, 0)
        guard count > 0 else { return count < 0 && errno == EINTR ? [] : nil }
        return Array(bytes.prefix(count))
    }
}
