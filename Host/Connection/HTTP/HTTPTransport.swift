import Model
import NIOCore
import NIOHTTP1

/// What carries requests to a server and answers back, and decides nothing: no redirects, no retries, no authentication.
protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the answer's head is there.
    /// - Parameter timeLimit: for everything up to the answer's head, connecting included.
    func execute(_ request: HTTPRequest, timeLimit: Duration) async throws(TransportError) -> HTTPAnswer
    /// Closes all connections; requests under way fail.
    func shutdown() async
    /// Threads that answers to tasks on them arrive on, and that may block; none if there are no such.
    var downloadThreads: [any TaskExecutor] { get }
}

extension HTTPTransport {
    var downloadThreads: [any TaskExecutor] { [] }
}

struct HTTPRequest: Sendable {
    var method: String
    var address: ServerAddress
    var headers: HTTPHeaders
    var body: [UInt8] = []
    /// What goes into `Authorization`: kept apart from the headers, so that these can be printed.
    var credentials: Credentials = .none
}

/// An answer whose body has yet to be read. One that is dropped unread closes its connection.
struct HTTPAnswer {
    var status: Int
    var headers: HTTPHeaders
    var body: any HTTPBody
}

/// The bytes of an answer as they arrive.
protocol HTTPBody: Sendable {
    /// The next chunk, of any size; nil at the end.
    mutating func next() async throws(TransportError) -> ByteBuffer?
}

/// Why a transport has no answer, or not all of one.
enum TransportError: Error, Equatable {
    /// The host's name has no address.
    case unknownHost(String)
    /// Nobody accepts connections, or there is no way there.
    case cannotConnect(String)
    /// A limit on time passed.
    case timedOut(Stage)
    /// The connection was closed: before the answer's head, or in the middle of its body.
    case closed
    /// The server's certificate is not trusted.
    case certificate(reason: String, fingerprint: [UInt8]?)
    /// What answers does not speak TLS.
    case notTLS
    /// TLS could not be agreed on for another reason.
    case tls(String)
    /// What came is not HTTP.
    case notHTTP(String)
    /// The answer holds the account's credentials, and whoever asked may not see them.
    case repeatsCredentials
    /// The request itself cannot be sent.
    case badRequest(String)
    case cancelled
    case shutDown

    enum Stage: Equatable {
        case connecting, head, body
    }
}

extension HTTPAnswer {
    /// The body's beginning; the rest is left unread. A body that ends badly is returned as far as it came.
    mutating func beginning(atMost limit: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while bytes.count < limit, let chunk = try await body.next() {
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch {
            // What an error document says is a courtesy: its status has said what matters.
            return bytes
        }
        return bytes
    }
}
