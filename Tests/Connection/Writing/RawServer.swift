import Glibc
import Synchronization
import TestSupport

/// A server that listens on 127.0.0.1 and does with each PUT and GET what a test says, down to its bytes. It answers all
/// else like a plain WebDAV server that holds nothing but an empty root.
final class RawServer: Sendable {
    /// A connection whose request was a PUT. Its head has been read.
    struct Upload {
        let socket: Int32
        /// The bytes of the body that came with the head.
        let first: Int
        /// The length of the body, as the head announces it.
        let length: Int
        /// The request's path, and the lines of its head in lower case.
        let path: String
        let lines: [String]
        fileprivate let listener: Int32

        /// Has the server accept no further connection.
        func refuseOthers() { shutdown(listener, Int32(SHUT_RDWR)) }

        /// Reads bytes of the body, at least `count` unless the client ends first.
        /// - Returns: The number of bytes that came, with those of the head's.
        func read(_ count: Int) -> Int {
            var done = first
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while done < count {
                let more = recv(socket, &buffer, min(buffer.count, count - done), 0)
                guard more > 0 else { break }
                done += more
            }
            return done
        }

        func answer(_ text: String) { RawServer.send(text, to: socket) }
    }

    let port: UInt16
    private let listener: Int32
    /// A GET request.
    struct Download: Sendable {
        var path: String
        /// The lines of the head, in lower case.
        var lines: [String]
    }

    private let state = Mutex((sockets: [Int32](), puts: 0, gets: [Download]()))
    private let onGet: @Sendable (Download) -> String?
    private let onPut: @Sendable (Upload) -> Void

    var url: String { "http://127.0.0.1:\(port)/d/" }
    /// The number of PUT requests so far.
    var puts: Int { state.withLock { $0.puts } }
    /// The GET requests so far.
    var gets: [Download] { state.withLock { $0.gets } }

    /// Runs a server.
    /// - Parameters:
    ///   - onPut: A function that gets each PUT, on a thread of its own. Its connection is closed when it returns.
    static func running(
        _ onPut: @escaping @Sendable (Upload) -> Void, _ body: (RawServer) async throws -> Void
    ) async throws {
        try await running(onPut, answering: { _ in nil }, body)
    }

    /// Runs a server.
    /// - Parameters:
    ///   - onGet: A function that returns the bytes with which each GET is answered, on the connection's thread. After nil
    ///     and after bytes that end with ``endsConnection`` the connection is closed.
    static func running(
        _ onPut: @escaping @Sendable (Upload) -> Void = { _ in },
        answering onGet: @escaping @Sendable (Download) -> String?, _ body: (RawServer) async throws -> Void
    ) async throws {
        let server = try RawServer(onPut, onGet)
        do { try await body(server) } catch {
            server.stop()
            throw error
        }
        server.stop()
    }

    /// The mark at the end of an answer after which the connection is closed.
    static let endsConnection = "\u{1}close"

    private init(
        _ onPut: @escaping @Sendable (Upload) -> Void, _ onGet: @escaping @Sendable (Download) -> String?
    ) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // What a client may send before anybody reads stays small, on connections that are accepted too.
        var room: Int32 = 16_384
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 16) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard socket >= 0, isBound else { throw SetupError("no socket") }
        (self.onPut, self.onGet, listener) = (onPut, onGet, socket)
        port = UInt16(bigEndian: address.sin_port)
        Thread.start { [self] in acceptAll() }
    }

    private func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        // Ends the reads of connections. Their own threads close them.
        state.withLock { for socket in $0.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    private func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { return }
            state.withLock { $0.sockets.append(socket) }
            Thread.start { [self] in
                serve(socket)
                state.withLock { $0.sockets.removeAll { $0 == socket } }
                close(socket)
            }
        }
    }

    private func serve(_ socket: Int32) {
        var waiting: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            guard let end = Self.headEnd(waiting) else {
                let count = recv(socket, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                waiting += buffer[..<count]
                continue
            }
            let lines = String(decoding: waiting[..<end], as: UTF8.self).split(separator: "\r\n")
            let length =
                lines.first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
            let method = lines.first?.prefix { $0 != " " } ?? ""
            if method == "PUT" {
                state.withLock { $0.puts += 1 }
                let path = lines.first?.split(separator: " ").dropFirst().first.map { String($0) } ?? ""
                onPut(
                    Upload(
                        socket: socket, first: waiting.count - end, length: length, path: path,
                        lines: lines.map { $0.lowercased() }, listener: listener))
                return
            }
            while waiting.count < end + length {
                let count = recv(socket, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                waiting += buffer[..<count]
            }
            waiting.removeFirst(end + length)
            let path = lines.first?.split(separator: " ").dropFirst().first.map { String($0) } ?? ""
            // What a connection asks about the server is not for the test.
            if method == "GET", !path.hasSuffix(".php") {
                let download = Download(path: path, lines: lines.map { $0.lowercased() })
                state.withLock { $0.gets.append(download) }
                guard let answer = onGet(download) else { return }
                let ends = answer.hasSuffix(Self.endsConnection)
                Self.send(ends ? String(answer.dropLast(Self.endsConnection.count)) : answer, to: socket)
                if ends { return }
                continue
            }
            let isRoot = lines.first?.split(separator: " ").dropFirst().first == "/d/"
            let document = method == "PROPFIND" && isRoot ? Document.multistatus(["/d/"]) : ""
            let status = method == "OPTIONS" ? "200 OK" : document.isEmpty ? "404 Not Found" : "207 Multi-Status"
            Self.send(
                "HTTP/1.1 \(status)\r\nServer: Apache\r\n"
                    + "DAV: <http://apache.org/dav/propset/fs/1>\r\nContent-Length: \(document.utf8.count)\r\n\r\n\(document)",
                to: socket)
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count else { return nil }
        return (0...(bytes.count - end.count)).first { bytes[$0..<($0 + end.count)].elementsEqual(end) }
            .map { $0 + end.count }
    }

    fileprivate static func send(_ text: String, to socket: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

private enum Thread {
    /// Starts a thread that nobody waits for. It ends with its socket.
    static func start(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if code == 0 { pthread_detach(thread) } else { box.release() }
    }

    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
