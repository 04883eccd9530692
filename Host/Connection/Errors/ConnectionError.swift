public import Model

/// The reason why a request did not get the expected answer. The kinds differ in what can be done about them.
public struct ConnectionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The meaning of an error for the caller.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// No answer, or an interrupted one: name resolution, connecting, a time limit, a closed connection. Try again
        /// later.
        case unreachable
        /// An answer that the server cannot serve the request now: 408, 423, 425, 429, and 5xx except 501 and 505. Try
        /// again later, not before `retryAfter`.
        case serverError
        /// Maintenance mode of the server. Ask again every 10 s until it ends.
        case maintenance
        /// Missing or rejected credentials. Nothing more is sent until there are new credentials.
        case authentication
        /// A request that the account may not make (403; in the search for calendars and address books also 401).
        case forbidden
        /// Nothing at this path (404, 410). In the search for calendars and address books also a proxy whose server did
        /// not answer (502, 504).
        case notFound
        /// Another version of the item on the server than the requested one (412, or the answer's own ETag or length).
        /// List again.
        case versionChanged
        /// An answer that cannot be understood or was not asked for. It says nothing about what is on the server.
        case protocolViolation
        /// A redirect to another origin, or too many redirects. Nothing was sent to the other origin.
        case redirectRefused
        /// A server's certificate that is not trusted. Nothing was sent.
        case certificate
        /// Something about the server that a person has not approved, as ``ConnectionError/approval`` names it. No
        /// credentials were sent.
        case unapproved
        /// An address of the account, or a file that the account names, that cannot be used.
        case badAddress
        /// A request that cannot be sent as it is: its target is at another origin, or it contains a name that no
        /// request may contain.
        case badRequest
        /// A cancelled request.
        case cancelled
    }

    /// The kind of the error.
    public var kind: Kind
    /// The event and the thing concerned: one sentence without a full stop. It contains no secret.
    public var message: String
    /// The advice what to do next, if there is any.
    public var hint: Advice?
    /// The answer's status, if there was an answer.
    public var status: Int?
    /// How long the server asks clients to wait before the next request (`Retry-After`).
    public var retryAfter: Duration?
    /// Whether a time limit passed: for connecting, for the answer's beginning or for its next piece.
    public var isTimeout = false
    /// Whether the connection ended before the answer did. Another attempt may succeed.
    public var isClosed = false
    /// Whether the request may have reached the server, and may have been carried out, although nothing is known of it.
    /// Only errors of requests that change something say so. Such a request is not sent again before the server was
    /// asked what it holds.
    public var mayHaveArrived = false
    /// Whether the file that was uploaded could not be read, or was not one version of a file any more. What the server
    /// has got of it is incomplete.
    public var isOfSource = false
    /// What a person has to approve, for an error of the kind `unapproved`.
    public internal(set) var approval: Approval?
    /// Whether a person has rejected ``approval``.
    public internal(set) var isRejected = false
    /// The addresses of a redirect to another server that could be approved.
    var redirect: ElsewhereRedirect?

    /// Creates an error.
    public init(
        _ kind: Kind, _ message: String, hint: String? = nil, status: Int? = nil, retryAfter: Duration? = nil
    ) {
        self.init(kind, message, hint: hint.map { .text($0) }, status: status, retryAfter: retryAfter)
    }

    /// Creates an error with advice that the program shows in its own words.
    public init(
        _ kind: Kind, _ message: String, hint: Advice?, status: Int? = nil, retryAfter: Duration? = nil
    ) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Whether the same request may succeed later without anybody's help. These are the network's and the server's own
    /// problems.
    public var isTransient: Bool {
        switch kind {
        case .unreachable, .serverError, .maintenance: true
        default: false
        }
    }

    /// Whether no request of this account can succeed until a person has done something.
    public var concernsAccount: Bool {
        switch kind {
        case .authentication, .certificate, .unapproved, .badAddress: true
        default: false
        }
    }

    /// The error as it is shown to a person.
    public var failure: Failure {
        let kind: Failure.Kind =
            switch self.kind {
            case .unreachable, .serverError, .maintenance: .unreachable
            case .authentication, .forbidden, .certificate, .unapproved: .denied
            case .notFound: .notFound
            case .versionChanged, .badRequest, .cancelled: .failed
            case .protocolViolation, .redirectRefused: .protocolViolation
            case .badAddress: .config
            }
        return Failure(kind, message, hint: hint)
    }

    /// The message, followed by the hint on a line of its own.
    public var description: String { hint.map { "\(message)\n\($0)" } ?? message }
}
