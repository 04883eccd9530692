import Model
import Transfer

/// A request as the methods of the connection describe it.
struct Question {
    var method: String
    var headers = HTTPHeaders()
    var body: [UInt8] = []
    /// The file that is the body; nil if the body is in memory.
    var upload: UploadBody?
    /// Whether the request changes something on the server. It is sent again only if nothing of it can have arrived, and
    /// follows only redirects that keep method and body.
    var isWrite = false
    var sendsCredentials = true
    /// Whether the request may be sent again when it is unknown whether it arrived (RFC 9110, section 9.2.2).
    var isIdempotent = true
    /// Whether the address is a guess. A 401 there says nothing about the credentials.
    var isGuess = false
    /// Whether whoever knows the address may be let in by it. Neither the log nor a message names it, and no redirect
    /// from it is followed.
    var hasSecretAddress = false
    var timeLimit: Duration
    /// What the body of a successful answer is, which decides how long the body may take.
    var expected = Expected.stream
    /// The request in words for a person: `listing /Photos`.
    var doing: String
    /// The answer to the first request, if that was sent before.
    var first: FirstAnswer?
    /// The request's turn on the network; nil if it has none.
    var turn: Turn?
}

extension Question {
    /// What the body of a successful answer may be.
    enum Expected {
        /// A body that ends when the server wishes, such as a stream of events.
        case stream
        /// A small document, which has a time limit as a whole.
        case document
        /// A file or a listing of any length, which must arrive at the least pace.
        case transfer
    }
}

extension Question {
    /// Notes what an answer tells of the server's capacity.
    func note(_ answer: HTTPAnswer) {
        guard let turn else { return }
        // The last two are those of a proxy before the server.
        if [429, 503, 502, 504].contains(answer.status) {
            turn.note(.refused)
        } else if let waited = answer.waited {
            turn.answerBegan(after: waited)
        }
    }
}

/// An answer, and the address that gave the answer.
struct Reply {
    var answer: HTTPAnswer
    /// The proof of the account that the answered request had.
    var authorization: Authorization
    var address: ServerAddress
    var wasRedirected: Bool
}
