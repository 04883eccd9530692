import Glibc

/// A socket on which a test takes the messages of a service, in place of a service manager.
///
/// Only one task may use the receiver.
public final class NotifyReceiver {
    private let descriptor: Int32
    /// The value of `$NOTIFY_SOCKET` for a service.
    public let address: String
    /// The lines of all messages received so far.
    public private(set) var lines: [String] = []

    /// Creates a socket.
    /// - Parameter address: an absolute path, or `@` and an abstract name.
    public init(_ address: String) throws {
        self.address = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        var name = Array(address.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(2 + name.count)
        let bound = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard descriptor >= 0, bound == 0 else {
            close(descriptor)
            throw SetupError(call: "bind", path: address)
        }
    }

    deinit { close(descriptor) }

    /// Takes the messages that have come, and returns all lines so far.
    @discardableResult public func receive() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return lines }
            lines += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Returns how often a line has come.
    public func count(_ line: String) -> Int { receive().count { $0 == line } }

    /// The text of the last status; nil if none has come.
    public var status: String? {
        receive().last { $0.hasPrefix("STATUS=") }.map { String($0.dropFirst("STATUS=".count)) }
    }
}
