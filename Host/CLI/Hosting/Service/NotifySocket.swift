import Glibc

/// The socket on which a service manager takes messages of a service: one datagram each (sd_notify(3)).
struct NotifySocket: Hashable, Sendable {
    private let name: [UInt8]

    /// Creates a socket's address. Fails if the address is not of this kind, or is too long for a socket.
    /// - Parameter address: an absolute path, or `@` and a name in the abstract namespace (unix(7)).
    init?(_ address: String) {
        var name = Array(address.utf8)
        guard name.count > 1, name.count < Self.capacity, !name.contains(0) else { return nil }
        switch name[0] {
        case UInt8(ascii: "@"): name[0] = 0
        case UInt8(ascii: "/"): name.append(0)
        default: return nil
        }
        self.name = name
    }

    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Sends a message. Never blocks.
    /// - Returns: nil, or the error number: `EAGAIN` while the receiver has no room.
    func send(_ message: String) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length of an abstract name counts, because such a name may contain any byte.
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + socklen_t(name.count)
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, length)
            }
        }
        return sent < 0 ? errno : nil
    }
}
