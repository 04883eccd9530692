import Glibc
import HTTPTypes
import Model
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix

/// The client of a running host's control socket.
struct ControlClient {
    /// An event of an answer: its name and its data, which are one line (the event streams of HTML).
    struct Event {
        var name: String
        var data: [UInt8]
    }

    /// The longest event or answer.
    private static let longest = 64 << 20

    /// The number of tries at a host that has too many connections, and the time between two.
    private static let (mostTries, pause) = (100, Duration.milliseconds(50))

    private let channel: NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart>

    /// Connects to a socket.
    /// - Returns: nil if nobody listens there.
    /// - Throws: `denied` if this user may not use the socket, `localIO` if the system refuses for another reason.
    init?(connectingTo path: String) async throws(Failure) {
        guard let slash = path.lastIndex(of: "/"), path.hasPrefix("/") else { return nil }
        // The folder stays open until the connection is made, because the address may name its descriptor.
        guard let folder = ControlFolder(opening: String(path[..<slash])) else {
            guard errno == EACCES else { return nil }
            throw Self.refused(path)
        }
        let address = folder.address(of: String(path[path.index(after: slash)...]))
        var tries = 0
        while true {
            do {
                channel = try await Self.connect(to: address)
                break
            } catch let error as IOError {
                switch error.errnoCode {
                case ENOENT, ECONNREFUSED, ENOTDIR: return nil
                case EACCES, EPERM: throw Self.refused(path)
                case EAGAIN where tries < Self.mostTries:
                    // As many connections wait for the host as the system keeps.
                    tries += 1
                    do { try await Task.sleep(for: Self.pause) } catch { throw Failure(.failed, "it was cancelled") }
                default:
                    throw Failure(.localIO, "the control socket \(path) cannot be used: \(errorText(error.errnoCode))")
                }
            } catch {
                throw Failure(.localIO, "the control socket \(path) cannot be used: \(error)")
            }
        }
        withExtendedLifetime(folder) {}
    }

    private static func connect(
        to address: String
    ) async throws -> NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.control)
            .connect(unixDomainSocketPath: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPClientCodec())
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Sends a request, and gives the events of its answer to a function until the answer ends. An answer that is no
    /// event stream is one event, named after its status.
    /// - Throws: `failed` if the host closes the connection before the answer's end.
    func events(
        of method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: [UInt8] = [],
        _ hear: (Event) throws -> Void
    ) async throws {
        var head = HTTPRequest(method: method, scheme: nil, authority: "larder", path: path, headerFields: fields)
        head.headerFields[.accept] = "text/event-stream, application/json"
        if !body.isEmpty {
            head.headerFields[.contentType] = "application/json"
            head.headerFields[.contentLength] = "\(body.count)"
        }
        try await channel.executeThenClose { [head] answer, request in
            // All in one write: a host may answer as soon as it has the body, and close the connection.
            let parts = [.head(head), body.isEmpty ? nil : .body(ByteBuffer(bytes: body)), HTTPRequestPart.end(nil)]
            try await request.write(contentsOf: parts.compactMap(\.self))
            var reader: EventReader?
            for try await part in answer {
                switch part {
                case .head(let head):
                    let isStream = head.headerFields[.contentType]?.hasPrefix("text/event-stream") ?? false
                    reader = EventReader(isStream: isStream, status: head.status.code, longest: Self.longest)
                case .body(let bytes): try reader?.add(bytes.readableBytesView, hear)
                case .end:
                    guard try reader?.finish(hear) ?? false else { throw Self.cutOff }
                    return
                }
            }
            throw Self.cutOff
        }
    }

    private static func refused(_ path: String) -> Failure {
        Failure(
            .denied, "the host that runs belongs to another user: \(path): \(errorText(EACCES))",
            hint: "run the command as that user or as root")
    }

    private static let cutOff = Failure(
        .failed, "the host ended before it had answered", hint: "`larder status` shows what was done")
}

/// A reader that cuts the body of an answer into events. A value without I/O.
struct EventReader {
    private let isStream: Bool
    private let status: Int
    private let longest: Int
    private var pending: [UInt8] = []
    private var event = ControlClient.Event(name: "message", data: [])
    private var isWhole = true

    init(isStream: Bool, status: Int, longest: Int) {
        (self.isStream, self.status, self.longest) = (isStream, status, longest)
    }

    /// Adds bytes of the body.
    /// - Throws: `protocolViolation` if an event is too long, and what `hear` throws.
    mutating func add(_ bytes: some Sequence<UInt8>, _ hear: (ControlClient.Event) throws -> Void) throws {
        guard isStream else {
            pending += bytes
            return try check()
        }
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                pending.append(byte)
                continue
            }
            try take(pending, hear)
            pending.removeAll(keepingCapacity: true)
        }
        try check()
    }

    /// Ends the body.
    /// - Returns: whether the last event of a stream was whole.
    mutating func finish(_ hear: (ControlClient.Event) throws -> Void) throws -> Bool {
        if !isStream { try hear(.init(name: "\(status)", data: pending)) }
        return isStream ? isWhole && pending.isEmpty : true
    }

    private mutating func take(_ line: [UInt8], _ hear: (ControlClient.Event) throws -> Void) throws {
        if line.isEmpty {
            if !event.data.isEmpty { try hear(event) }
            (event, isWhole) = (.init(name: "message", data: []), true)
            return
        }
        isWhole = false
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count == 2 ? parts[1] : []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "event": event.name = String(decoding: value, as: UTF8.self)
        case "data": event.data += value
        default: break
        }
    }

    private func check() throws {
        guard pending.count <= longest else {
            throw Failure(.protocolViolation, "the host's answer is longer than \(longest) bytes")
        }
    }
}
