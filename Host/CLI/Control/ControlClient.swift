import Core
import Glibc
import HTTP
import Model
import Synchronization
import Threads

/// The client of a running host's control socket.
struct ControlClient {
    /// An event of an answer. Its data are one line.
    typealias Event = EventStreamParser.Event

    /// The longest event or answer.
    private static let longest = 64 << 20

    /// The number of tries at a host that has too many connections, and the time between two.
    static let (mostTries, pause) = (100, Duration.milliseconds(50))

    /// A refusal by a host that has too many connections, which may have closed this one before its words arrived.
    /// Nothing of the request was done if the host still runs.
    struct Busy: Error {}

    private let connection: PolledSocket

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
        let name = String(path[path.index(after: slash)...])
        // The host closes the connection of somebody else without a word.
        guard folder.isOfOneself(name) else { throw Self.refused(path) }
        let address = folder.address(of: name)
        var tries = 0
        while true {
            do {
                connection = try Self.connect(to: address)
                break
            } catch {
                switch error.code {
                case ENOENT, ECONNREFUSED, ENOTDIR: return nil
                case EACCES, EPERM: throw Self.refused(path)
                case EAGAIN where tries < Self.mostTries:
                    // As many connections wait for the host as the system keeps.
                    tries += 1
                    do { try await Task.sleep(for: Self.pause) } catch { throw Self.cancelled }
                case EAGAIN: throw Self.silent
                case let code:
                    throw Failure(.localIO, "the control socket \(path) cannot be used: \(errorText(code))")
                }
            }
        }
        withExtendedLifetime(folder) {}
    }

    /// Connects to a socket, without a wait.
    private static func connect(to path: String) throws(SocketError) -> PolledSocket {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0, UnixAddress(path)?.call(Glibc.connect, descriptor) == 0 else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw SocketError(code: code)
        }
        do throws(ThreadError) { return try PolledSocket(descriptor) } catch { throw SocketError(code: error.code) }
    }

    /// Sends a request, and gives the events of its answer to a function until the answer ends. An answer that is no
    /// event stream is one event, named after its status.
    /// - Parameters:
    ///   - longestSilence: how long the host may give no sign of life; nil if that does not matter.
    ///   - clock: the clock that tells it.
    ///   - hear: receives the events that have come, one or more. Nothing more of the answer is read before it returns.
    /// - Throws: `failed` if the host closes the connection before the answer's end, `vaultLocked` if it gave no sign of
    ///   life, ``Busy``.
    func events(
        of method: String, _ path: String, fields: [String: String] = [:], body: [UInt8] = [],
        longestSilence: Duration?, clock: HostClock, _ hear: ([Event]) async throws -> Void
    ) async throws {
        let silence = Silence(clock)
        let watch = Task { [connection] in
            guard let longestSilence, await silence.lasts(longestSilence) else { return }
            connection.end()
        }
        defer { watch.cancel() }
        do {
            try await exchange(method, path, fields, body) { events throws in
                silence.end()
                guard !events.isEmpty else { return }
                silence.pause()
                defer { silence.end() }
                try await hear(events)
            }
        } catch is CancellationError {
            throw Self.cancelled
        } catch is SocketError where !silence.hasEnded && !silence.isTooLong {
            throw Busy()
        } catch {
            if silence.isTooLong { throw Self.silent }
            throw error
        }
        // An answer of unknown length ends with the connection.
        if silence.isTooLong { throw Self.silent }
    }

    /// - Parameter hear: receives the events of each piece of the answer, which may be none.
    private func exchange(
        _ method: String, _ path: String, _ fields: [String: String], _ body: [UInt8],
        _ hear: ([Event]) async throws -> Void
    ) async throws {
        var head = HTTPHead(line: "\(method) \(path) HTTP/1.1", fields: fields)
        head.fields["Host"] = "larder"
        head.fields["Accept"] = "text/event-stream, application/json"
        if !body.isEmpty {
            head.fields["Content-Type"] = "application/json"
            head.fields["Content-Length"] = "\(body.count)"
        }
        // A host that refuses the request may have closed the connection. Its answer says why.
        do { try await connection.write(head.bytes + body) } catch is SocketError {}
        do {
            let reader = HTTPReader(connection)
            var head = try await reader.head()
            // Interim answers come before the answer.
            while head?.words.dropFirst().first?.hasPrefix("1") ?? false { head = try await reader.head() }
            guard let head else { throw Self.cutOff }
            try await hear([])
            reader.begin(try HTTPBody(after: head, isRequest: false))
            var events = try EventReader(head, longest: Self.longest)
            while let piece = try await reader.next() {
                var heard: [Event] = []
                try events.add(piece) { heard.append($0) }
                try await hear(heard)
            }
            var last: [Event] = []
            let isWhole = try events.finish { last.append($0) }
            try await hear(last)
            guard isWhole else { throw Self.cutOff }
        } catch is HTTPReader.CutOff {
            throw Self.cutOff
        }
    }

    private static let cancelled = Failure(.failed, "it was cancelled")

    private static func refused(_ path: String) -> Failure {
        Failure(
            .denied, "the host that runs belongs to another user: \(path): \(errorText(EACCES))",
            hint: "run the command as that user or as root")
    }

    static let silent = Failure(
        .vaultLocked, "the host does not answer",
        hint: "see the host's log; if it goes on so, end its process and start `larder run` again")

    static let busy = Failure(
        .vaultLocked, "the host has as many commands to answer as it may have at a time",
        hint: "try again later")

    static let cutOff = Failure(
        .failed, "the host ended before it had answered", hint: "`larder status` shows what was done")
}

/// The time since a host gave its last sign of life. While the machine sleeps, a host can give none. May be used on any
/// thread.
private final class Silence: Sendable {
    private let clock: HostClock
    private let state: Mutex<(last: Duration, hasEnded: Bool, isTooLong: Bool, isPaused: Bool)>

    init(_ clock: HostClock) {
        self.clock = clock
        state = Mutex((clock.awake(), false, false, false))
    }

    var isTooLong: Bool { state.withLock { $0.isTooLong } }

    /// Whether the host gave any sign of life.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func end() { state.withLock { ($0.last, $0.hasEnded, $0.isPaused) = (clock.awake(), true, false) } }

    /// Expects no sign of life until the next ``end()``, since nothing is read meanwhile.
    func pause() { state.withLock { $0.isPaused = true } }

    /// The most by which a busy machine wakes a sleeping task late.
    private static let mostDelay = Duration.seconds(1)

    /// Waits until the silence has lasted for a time. The time in which this process itself was stopped does not count:
    /// what the host said meanwhile is still to be read.
    /// - Returns: false if the task was cancelled before.
    func lasts(_ time: Duration) async -> Bool {
        while true {
            let left = state.withLock { state in
                let left = state.isPaused ? time : time - (clock.awake() - state.last)
                state.isTooLong = left <= .zero
                return left
            }
            if left <= .zero { return true }
            let began = clock.awake()
            do { try await clock.sleep(left) } catch { return false }
            let now = clock.awake()
            if now - began > left + Self.mostDelay { state.withLock { $0.last = now } }
        }
    }
}

/// A reader that cuts the body of an answer into events. Comments, the host's signs of life, are skipped. A value without
/// I/O.
struct EventReader {
    private let isStream: Bool
    private let status: Int
    private let longest: Int
    private var parser: EventStreamParser
    /// The body of an answer that is no stream.
    private var body: [UInt8] = []

    /// - Parameters:
    ///   - head: the answer's head.
    ///   - longest: the longest event or answer, in bytes.
    /// - Throws: `protocolViolation` if the head is none of HTTP's.
    init(_ head: HTTPHead, longest: Int) throws(Failure) {
        guard head.words.count > 1, head.words[0].hasPrefix("HTTP/1."), let status = Int(head.words[1]) else {
            throw Failure(.protocolViolation, "the host's answer makes no sense")
        }
        self.init(
            isStream: head.fields["content-type"]?.hasPrefix("text/event-stream") ?? false, status: status,
            longest: longest)
    }

    init(isStream: Bool, status: Int, longest: Int) {
        (self.isStream, self.status, self.longest) = (isStream, status, longest)
        parser = EventStreamParser(longest: longest)
    }

    /// Adds bytes of the body.
    /// - Throws: `protocolViolation` if an event is too long, and what `hear` throws.
    mutating func add(_ bytes: some Sequence<UInt8>, _ hear: (ControlClient.Event) throws -> Void) throws {
        guard isStream else {
            body += bytes
            guard body.count <= longest else { throw tooLong }
            return
        }
        let events: [ControlClient.Event]
        do { events = try parser.read(bytes) } catch { throw tooLong }
        for event in events where !event.data.isEmpty { try hear(event) }
    }

    /// Ends the body.
    /// - Returns: whether the last event of a stream was whole.
    mutating func finish(_ hear: (ControlClient.Event) throws -> Void) throws -> Bool {
        // Nothing was done; a client of commands tries again.
        if status == 503, !isOfTooManyReaders { throw ControlClient.Busy() }
        if !isStream { try hear(.init(name: "\(status)", data: body)) }
        return !isStream || parser.isBetweenEvents
    }

    private var isOfTooManyReaders: Bool { body == Array(JSONValue(error: LiveQuery.tooMany).text.utf8) }

    private var tooLong: Failure {
        Failure(.protocolViolation, "the host's answer is longer than \(longest) bytes")
    }
}
