import HTTP
import Model
import Threads

/// A request as it was read.
struct ControlMessage: Sendable {
    var method: String
    var target: String
    /// The header fields; see ``HTTPHead/fields``.
    var fields: [String: String]
    var body: [UInt8]
}

/// A client's connection to the control socket. It carries one request and its answer.
final class ControlConnection: Sendable {
    /// The longest body of a request.
    static let longestBody = 4 << 20

    private let socket: PolledSocket
    private let reader: HTTPReader
    private let becomesStream: @Sendable () -> Bool

    /// - Parameter becomesStream: takes a place among the streams; returns false if there is none.
    init(_ socket: PolledSocket, becomesStream: @escaping @Sendable () -> Bool = { false }) {
        (self.socket, reader, self.becomesStream) = (socket, HTTPReader(socket), becomesStream)
    }

    /// Leaves the place among the connections with commands to another one, for an answer that goes on for long.
    /// - Returns: false if there are too many such answers.
    func becomeStream() -> Bool { becomesStream() }

    /// Reads the request.
    /// - Returns: the request, or the failure to answer; nil if the client has sent nothing.
    func read() async -> Result<ControlMessage, Failure>? {
        do {
            guard let head = try await reader.head() else { return nil }
            return .success(try await message(after: head))
        } catch let failure as Failure {
            return .failure(failure)
        } catch is HTTPReader.CutOff {
            return .failure(Self.cutOff)
        } catch {
            return nil
        }
    }

    private func message(after head: HTTPHead) async throws -> ControlMessage {
        let words = head.words
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { throw HTTPHead.nonsense }
        let coming = try HTTPBody(after: head, isRequest: true)
        guard coming.length ?? 0 <= Self.longestBody else { throw Self.cutOff }
        reader.begin(coming, isWaiting: head.isWaiting)
        var body: [UInt8] = []
        while let piece = try await reader.next() {
            body += piece
            guard body.count <= Self.longestBody else { throw Self.cutOff }
        }
        return ControlMessage(
            method: String(words[0]), target: String(words[1]), fields: head.fields, body: body)
    }

    private static let cutOff = Failure(.badData, "the request is cut off, or longer than \(longestBody) bytes")

    private static func head(_ status: String, _ type: String, _ more: (String, String)) -> [UInt8] {
        let fields = ["Content-Type": type, "Cache-Control": "no-store", "Connection": "close", more.0: more.1]
        return HTTPHead(line: "HTTP/1.1 \(status)", fields: fields).bytes
    }

    /// The bytes of an answer.
    static func answer(_ status: String, _ json: [UInt8]) -> [UInt8] {
        head(status, "application/json", ("Content-Length", "\(json.count)")) + json
    }

    /// Answers the request.
    func answer(_ status: String, _ json: [UInt8]) async throws {
        try await socket.write(Self.answer(status, json))
    }

    /// Begins an answer that is a stream of events.
    func beginEvents() async throws {
        try await socket.write(Self.head("200 OK", "text/event-stream", ("Transfer-Encoding", "chunked")))
    }

    /// Sends events, and waits until the client has room for them.
    func send(_ events: [UInt8]) async throws { try await socket.write(HTTPBody.piece(events)) }

    func endEvents() async throws { try await socket.write(HTTPBody.piece([])) }

    /// Waits until the client has closed the connection.
    func untilGone() async throws { try await socket.untilGone() }

    /// Tells the client that the answer is over, and passes over what it still sends. A client whose words nobody read
    /// might see an error instead of the answer.
    func finish() async {
        socket.endWriting()
        // A client that never stops writing leaves the thread to others.
        do { while try await !socket.read(atMost: 65_536).isEmpty { await Task.yield() } } catch {}
    }
}
