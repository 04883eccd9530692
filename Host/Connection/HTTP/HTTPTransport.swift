import Model
import Transfer

/// A carrier of requests to a server and of the answers. It decides nothing: no redirects, no retries, no
/// authentication.
protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the answer's head has arrived.
    /// - Parameters:
    ///   - request: The request to send.
    ///   - limits: The time limits of the answer.
    func execute(_ request: HTTPRequest, limits: AnswerLimits) async throws(TransportError) -> HTTPAnswer
    /// Whether the transport sends requests in batches.
    var sendsBatches: Bool { get }
    /// Sends the requests of a batch.
    /// - Returns: The requests, which have begun; nil if the transport sends none in batches.
    func start(
        _ requests: BatchRequests, places: Int, _ turns: BatchTurns, number: Int, for receiver: any BatchReceiver
    ) -> BatchTransfer?
    /// Returns the answer to a request that was sent with a batch.
    func answer(of transfer: Transfer) async throws(TransportError) -> HTTPAnswer
    /// Closes the connections without a request under way.
    func closeIdle()
    /// Closes all connections. Requests under way fail.
    func shutdown() async
    /// The threads that may block, and on which the answers to tasks that run there arrive; empty if there are none.
    var downloadThreads: [any TaskExecutor] { get }
}

extension HTTPTransport {
    var downloadThreads: [any TaskExecutor] { [] }

    var sendsBatches: Bool { false }

    func closeIdle() {}

    func start(
        _ requests: BatchRequests, places: Int, _ turns: BatchTurns, number: Int, for receiver: any BatchReceiver
    ) -> BatchTransfer? { nil }

    func answer(of transfer: Transfer) async throws(TransportError) -> HTTPAnswer { throw .closed }
}

/// A request as a transport sends it.
struct HTTPRequest: Sendable {
    var method: String
    var address: ServerAddress
    var headers: HTTPHeaders
    var body: [UInt8] = []
    /// The file that is the body; nil if the body is in memory.
    var upload: UploadBody?
    /// The proof of the account. It is kept apart from the headers, so that the headers can be printed.
    var authorization: Authorization = .none
}

/// An answer whose body has yet to be read. Dropping the body ends the request.
struct HTTPAnswer {
    var status: Int
    var headers: HTTPHeaders
    var body: any HTTPBody
    /// The time from the moment at which the request could be sent to the first byte of the answer; nil if it was not
    /// measured.
    var waited: Duration?
}

/// The bytes of an answer as they arrive.
protocol HTTPBody: Sendable {
    /// Returns the next chunk, of any size; nil at the end.
    mutating func next() async throws(TransportError) -> [UInt8]?
}

extension HTTPAnswer {
    /// Returns the whole body of an answer that is a small document.
    /// - Throws: `tooLong` if the body has more bytes than the limit; the rest is left unread.
    mutating func document(atMost limit: Int) async throws(TransportError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await body.next() {
            guard bytes.count + chunk.count <= limit else { throw .tooLong(limit) }
            bytes += chunk
        }
        return bytes
    }

    /// Returns the beginning of the body and leaves the rest unread. If the body ends with an error, returns the bytes
    /// before the error.
    mutating func beginning(atMost limit: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while bytes.count < limit, let chunk = try await body.next() {
                bytes += chunk
            }
        } catch {
            // The text of an error document is only an addition: its status has said what matters.
            return bytes
        }
        return bytes
    }
}
