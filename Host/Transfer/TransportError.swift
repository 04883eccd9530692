/// The reason why a transport has no answer, or only a part of one.
package enum TransportError: Error, Equatable {
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

    package enum ProxyProblem: Equatable {
        case unreachable(String)
        case wantsLogin(hasLogin: Bool)
        /// The proxy does not connect to the server, with its reason if it gave one.
        case refuses(String?)
    }

    package enum Stage: Equatable {
        case connecting, head, body
    }
}

extension TransportError {
    /// Whether the server may have got the request, or enough of it to carry it out.
    package var mayHaveArrived: Bool {
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
