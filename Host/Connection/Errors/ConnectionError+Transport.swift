import Model
import Transfer

extension ConnectionError {
    /// Creates the error for a request whose transport failed.
    /// - Parameters:
    ///   - error: The transport's error.
    ///   - doing: The request in words for a person: `listing /Photos`.
    ///   - origin: The origin that was asked.
    init(_ error: TransportError, doing: String, at origin: ServerAddress.Origin) {
        let reach = "check the network and that the server is running"
        // A server that answers in TLS or not at all may expect TLS at this port.
        let orTLS = origin.isTLS ? "" : "; if it speaks TLS at this port, write https:// in the account's url"
        switch error {
        case .unknownHost(let host):
            self.init(
                .unreachable, "\(host) has no address", hint: "check the account's url, the network and the name server"
            )
        case .cannotConnect(let why):
            self.init(.unreachable, "cannot connect to \(origin): \(why)", hint: reach)
        case .timedOut(.connecting):
            self.init(.unreachable, "\(origin) does not answer: connecting took too long", hint: reach)
        case .timedOut(.head):
            self.init(.unreachable, "\(origin) took too long to answer while \(doing)", hint: reach)
        case .timedOut(.body):
            self.init(.unreachable, "\(origin) fell silent in the middle of its answer while \(doing)", hint: reach)
        case .tooSlow(let rate, let least):
            self.init(
                .unreachable,
                "\(origin) sent only \(rate) bytes per second for \(least.period) while \(doing), "
                    + "fewer than the \(least.bytesPerSecond) of `limits.slowest`",
                hint: "try again later, or lower limits.slowest in the config; 0B sets no limit")
        case .takesTooSlowly(let rate, let least):
            self.init(
                .unreachable,
                "\(origin) took only \(rate) bytes per second for \(least.period) while \(doing), "
                    + "fewer than the \(least.bytesPerSecond) of `limits.slowest`",
                hint: "try again later, or lower limits.slowest in the config; 0B sets no limit")
        case .source(let why):
            self.init(.badRequest, "\(doing) was given up: \(why)")
            isOfSource = true
        case .endless(let duration):
            self.init(
                .unreachable,
                "the answer of \(origin) did not come to its end within \(duration) while \(doing)",
                hint: "check the server and what is between it and here")
        case .tooLong(let limit):
            self.init(
                .protocolViolation, "the answer of \(origin) is longer than \(limit) bytes while \(doing)",
                hint: "check the account's url; a proxy may be in between")
        case .closed:
            self.init(.unreachable, "\(origin) closed the connection while \(doing)", hint: reach + orTLS)
        case .certificate(let reason, let fingerprint):
            let found = fingerprint.map { "; its fingerprint is \(CertificateTrust.text($0))" } ?? ""
            self.init(
                .certificate, "the certificate of \(origin) is not trusted: \(reason)\(found)",
                hint: CertificateTrust.hint(.system))
        case .unapprovedKey(let hash):
            self.init(.key(hash, of: origin), isRejected: false)
        case .clientCertificate(nil):
            self.init(
                .certificate, "\(origin) asks for a certificate of the account's",
                hint: "set certificate and key in tls of the account's config; whoever runs the server gives them")
        case .clientCertificate(let why?):
            self.init(
                .certificate, "\(origin) refuses the certificate of the account: \(why)",
                hint: "check certificate in tls of the account's config, or ask whoever runs the server for a new one")
        case .notTLS:
            self.init(
                .unreachable, "no secure connection to \(origin): the server does not speak TLS at this port",
                hint: "check the port in the account's url; http:// there is for a server that has no TLS")
        case .tls(let reason):
            self.init(.unreachable, "no secure connection to \(origin): \(reason)", hint: "check the account's url")
        case .notHTTP(let reason):
            self.init(
                .protocolViolation, "\(origin) does not speak HTTP while \(doing): \(reason)",
                hint: "check the account's url" + orTLS)
        case .repeatsCredentials:
            self.init(
                .protocolViolation,
                "the answer of \(origin) contains the account's credentials while \(doing): Larder does not pass the "
                    + "answer on",
                hint: "switch off the pages that show requests on the server, such as a debugging page")
        case .proxy(let proxy, let problem):
            self.init(problem, of: proxy, to: origin)
        case .badRequest(let reason):
            self.init(
                .badAddress, "\(doing) is not possible at \(origin): \(reason)",
                hint: "check the account's url and credentials")
        case .cancelled:
            self.init(.cancelled, "\(doing) was cancelled")
        case .shutDown:
            self.init(.cancelled, "\(doing) was cancelled: the connection has been shut down")
        }
        switch error {
        case .timedOut, .tooSlow, .takesTooSlowly, .endless: isTimeout = true
        default: break
        }
        if case .closed = error { isClosed = true }
    }

    private init(_ problem: TransportError.ProxyProblem, of proxy: String, to origin: ServerAddress.Origin) {
        let place = "proxy in the account's config, or the variables https_proxy, http_proxy and all_proxy"
        switch problem {
        case .unreachable(let why):
            self.init(
                .unreachable, "cannot connect to the proxy \(proxy): \(why)",
                hint: "check that the proxy is running, and \(place)")
        case .wantsLogin(let hasLogin):
            self.init(
                .authentication,
                hasLogin
                    ? "the proxy \(proxy) does not accept its username and password"
                    : "the proxy \(proxy) asks for a username and a password that Larder does not have for it",
                hint: "check \(place)", status: 407)
        case .refuses(let why):
            self.init(
                .unreachable,
                "the proxy \(proxy) does not connect to \(origin)" + (why.map { ": \($0)" } ?? ""),
                hint: "check that the server is running, and that the proxy allows this address and the login for it; "
                    + "`proxy: none` in the account's config goes without the proxy")
        }
    }
}
