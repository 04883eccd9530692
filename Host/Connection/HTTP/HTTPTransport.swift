import Model
import NIOCore
import NIOHTTP1

/// A carrier of requests to a server and of the answers. It decides nothing: no redirects, no retries, no
/// authentication.
protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the answer's head has arrived.
    /// - Parameters:
    ///   - request: The request to send.
    ///   - limits: The time limits of the answer.
    func execute(_ request: HTTPRequest, limits: AnswerLimits) async throws(TransportError) -> HTTPAnswer
    /// Closes all connections. Requests under way fail.
    func shutdown() async
    /// The threads that may block, and on which the answers to tasks that run there arrive; empty if there are none.
    var downloadThreads: [any TaskExecutor] { get }
}

extension HTTPTransport {
    var downloadThreads: [any TaskExecutor] { [] }
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

/// The time limits of an answer.
struct AnswerLimits: Sendable, Hashable {
    /// The limit of a body.
    enum Body: Sendable, Hashable {
        /// No limit: the body is a stream that ends when the server wishes.
        case none
        /// The limit for the whole answer, from the request on.
        case whole(within: Duration)
        /// The least pace at which the body must arrive.
        case pace(LeastPace)
    }

    /// The limit for everything up to the answer's head, connecting included.
    var head: Duration
    /// The least pace at which the server must take the body of a request, if the body is a file; nil if it may take any
    /// time. The limit for the head begins when the body has been taken.
    var upload: LeastPace?
    /// The limit of the body of an answer with a status of success.
    var body: Body
    /// The limit for the whole body of an answer with any other status, from the answer's head on.
    var errorDocument: Duration
}

/// An answer whose body has yet to be read. Dropping the body ends the request.
struct HTTPAnswer {
    var status: Int
    var headers: HTTPHeaders
    var body: any HTTPBody
}

/// The bytes of an answer as they arrive.
protocol HTTPBody: Sendable {
    /// Returns the next chunk, of any size; nil at the end.
    mutating func next() async throws(TransportError) -> ByteBuffer?
}

/// The reason why a transport has no answer, or only a part of one.
enum TransportError: Error, Equatable {
    /// A host name without an address.
    case unknownHost(String)
    /// A host that accepts no connection or cannot be reached.
    case cannotConnect(String)
    /// A time limit that passed.
    case timedOut(Stage)
    /// A body that arrived at fewer bytes per second than the least number.
    case tooSlow(Int64, LeastPace)
    /// A server that takes the body of a request at fewer bytes per second than the least number.
    case takesTooSlowly(Int64, LeastPace)
    /// A file that cannot be uploaded because it cannot be read, or has changed meanwhile.
    case source(String)
    /// A small document that was not complete within its time limit.
    case endless(within: Duration)
    /// A small document that is longer than this number of bytes.
    case tooLong(Int)
    /// A connection that was closed before the answer's head or in the middle of its body.
    case closed
    /// A server's certificate that is not trusted.
    case certificate(reason: String, fingerprint: [UInt8]?)
    /// A server whose key is pinned, with another key that was not approved, by its SHA-256.
    case unapprovedKey([UInt8])
    /// A server that wants a certificate of the account's and got none (nil), or does not accept it, with the reason.
    case clientCertificate(String?)
    /// An answering peer that does not speak TLS.
    case notTLS
    /// A failed agreement on TLS for another reason.
    case tls(String)
    /// An answer that is not HTTP.
    case notHTTP(String)
    /// An answer that holds the account's credentials, for a caller that may not see them.
    case repeatsCredentials
    /// A proxy, by its address, that does not pass requests on.
    case proxy(String, ProxyProblem)
    /// A request that cannot be sent.
    case badRequest(String)
    case cancelled
    case shutDown

    enum ProxyProblem: Equatable {
        case unreachable(String)
        case wantsLogin(hasLogin: Bool)
        /// The proxy does not connect to the server, with its reason if it gave one.
        case refuses(String?)
    }

    enum Stage: Equatable {
        case connecting, head, body
    }
}

extension TransportError {
    /// Whether the server may have got the request, or enough of it to carry it out.
    var mayHaveArrived: Bool {
        switch self {
        case .unknownHost, .cannotConnect, .timedOut(.connecting), .certificate, .unapprovedKey, .clientCertificate,
            .notTLS, .tls, .proxy, .badRequest:
            false
        case .timedOut, .tooSlow, .takesTooSlowly, .source, .endless, .tooLong, .closed, .notHTTP, .repeatsCredentials,
            .cancelled, .shutDown:
            true
        }
    }
}

extension HTTPAnswer {
    /// Returns the whole body of an answer that is a small document.
    /// - Throws: `tooLong` if the body has more bytes than the limit; the rest is left unread.
    mutating func document(atMost limit: Int) async throws(TransportError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await body.next() {
            guard bytes.count + chunk.readableBytes <= limit else { throw .tooLong(limit) }
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return bytes
    }

    /// Returns the beginning of the body and leaves the rest unread. If the body ends with an error, returns the bytes
    /// before the error.
    mutating func beginning(atMost limit: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while bytes.count < limit, let chunk = try await body.next() {
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch {
            // The text of an error document is only an addition: its status has said what matters.
            return bytes
        }
        return bytes
    }
}
