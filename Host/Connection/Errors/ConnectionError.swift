public import Model

/// Why a request was not answered as it should have been, told by what can be done about it.
public struct ConnectionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What an error means for whoever asked.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// No answer, or one that was cut off: name resolution, connecting, a time limit, a closed connection. Try again later.
        case unreachable
        /// The server answered that it cannot now: 408, 423, 425, 429 and 5xx. Try again later, not before `retryAfter`.
        case serverError
        /// The server is in maintenance mode. Ask again every 10 s until it is not.
        case maintenance
        /// The credentials are missing or were refused. Nothing more is sent until there are new ones.
        case authentication
        /// The account may not do this (403).
        case forbidden
        /// There is nothing at this path (404, 410).
        case notFound
        /// The item on the server is another version than the one asked for (412, or the answer's own ETag or length). List again.
        case versionChanged
        /// The answer makes no sense, or is not what was asked for. It says nothing of what is on the server.
        case protocolViolation
        /// A redirect that leads to another origin, or too many of them. Nothing was sent there.
        case redirectRefused
        /// The server's certificate is not trusted. Nothing was sent.
        case certificate
        /// The account's address, or a file that it names, cannot be used.
        case badAddress
        /// The request itself cannot be sent as it is: its target is at another origin, or a name in it cannot stand in a request.
        case badRequest
        /// The request was called off.
        case cancelled
    }

    public var kind: Kind
    /// What happened, to what: one sentence without a full stop. It holds no secret.
    public var message: String
    /// What to do next, if there is something.
    public var hint: String?
    /// The answer's status, if there was one.
    public var status: Int?
    /// How long the server asks to be left alone (`Retry-After`).
    public var retryAfter: Duration?
    /// Whether it took too long: to connect, to answer or to go on.
    public var isTimeout = false
    /// Whether the connection ended before the answer did. Asking again may do.
    public var isClosed = false

    public init(
        _ kind: Kind, _ message: String, hint: String? = nil, status: Int? = nil, retryAfter: Duration? = nil
    ) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Whether the same request may succeed later with nobody doing anything: the network's and the server's own troubles.
    public var isTransient: Bool {
        switch kind {
        case .unreachable, .serverError, .maintenance: true
        default: false
        }
    }

    /// Whether no request of this account can succeed until a person has done something.
    public var concernsAccount: Bool {
        switch kind {
        case .authentication, .certificate, .badAddress: true
        default: false
        }
    }

    /// The error as a person gets it.
    public var failure: Failure {
        let kind: Failure.Kind =
            switch self.kind {
            case .unreachable, .serverError, .maintenance: .unreachable
            case .authentication, .forbidden, .certificate: .denied
            case .notFound: .notFound
            case .versionChanged, .badRequest, .cancelled: .failed
            case .protocolViolation, .redirectRefused: .protocolViolation
            case .badAddress: .config
            }
        return Failure(kind, message, hint: hint)
    }

    public var description: String { hint.map { "\(message)\n\($0)" } ?? message }
}
