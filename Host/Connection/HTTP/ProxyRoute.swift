import AsyncHTTPClient
import Model
import NIOCore
import NIOHTTP1
import NIOSOCKS

/// The way of an account's requests through a proxy, if it has one.
enum ProxyRoute: Sendable {
    case direct
    /// A connection through the proxy: by CONNECT, or by SOCKS.
    case tunnel(Proxy, ProxyLogin?)
    /// Requests to the proxy with the server's whole address (RFC 9112, section 3.2.2). Many proxies allow CONNECT to
    /// the ports of TLS only.
    case forward(Proxy, ProxyLogin?)

    /// Creates the way to an account's server.
    init(_ bookmark: Bookmark, _ login: ProxyLogin?) {
        guard let proxy = bookmark.proxy else {
            self = .direct
            return
        }
        let isTLS = (try? ServerAddress(bookmark.url).origin.isTLS) ?? true
        self = proxy.kind == .http && !isTLS ? .forward(proxy, login) : .tunnel(proxy, login)
    }

    /// The proxy as async-http-client sets connections up through it.
    var tunnel: HTTPClient.Configuration.Proxy? {
        guard case .tunnel(let proxy, let login) = self else { return nil }
        return switch proxy.kind {
        case .socks5: .socksServer(host: proxy.host, port: proxy.port)
        case .http:
            .server(
                host: proxy.host, port: proxy.port,
                authorization: login.map { .basic(username: $0.username, password: $0.password) })
        }
    }

    /// Returns the address that the library connects to, and adds the fields that the way needs.
    func url(of address: ServerAddress, _ headers: inout HTTPHeaders) -> String {
        guard case .forward(let proxy, let login) = self else { return address.description }
        headers.add(name: "Host", value: String(address.origin.description.dropFirst("http://".count)))
        if let login {
            headers.add(
                name: "Proxy-Authorization", value: "Basic " + Authorization.basicToken(login.username, login.password))
        }
        return "http://\(proxy.authority)\(address.target)"
    }

    /// Makes a new connection's requests have whole addresses, if they go to a proxy.
    func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard case .forward = self else { return channel.eventLoop.makeSucceededVoidFuture() }
        return channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            try pipeline.addHandler(WholeAddresses(), position: .after(encoder))
        }
    }

    /// Returns the error for a request without an answer: an error of the proxy names the proxy.
    func meaning(of error: any Error) -> TransportError {
        let plain = TransportError(error, before: .head)
        guard let (proxy, login) = parts else { return plain }
        func failed(_ problem: TransportError.ProxyProblem) -> TransportError { .proxy("\(proxy)", problem) }
        switch error as? HTTPClientError {
        case .proxyAuthenticationRequired: return failed(.wantsLogin(hasLogin: login != nil))
        case .invalidProxyResponse: return failed(.refuses(nil))
        case .httpProxyHandshakeTimeout, .socksHandshakeTimeout: return failed(.refuses("it took too long"))
        case .tlsHandshakeTimeout: return plain
        default: break
        }
        switch error {
        case is SOCKSError.InvalidAuthenticationSelection: return failed(.wantsLogin(hasLogin: false))
        case let error as SOCKSError.ConnectionFailed: return failed(.refuses(Self.text(error.reply)))
        case is SOCKSError.InvalidProtocolVersion, is SOCKSError.InvalidReservedByte, is SOCKSError.InvalidAddressType:
            return failed(.unreachable("it does not speak SOCKS5"))
        default: break
        }
        switch plain {
        case .unknownHost: return failed(.unreachable("it has no address"))
        case .cannotConnect(let why): return failed(.unreachable(why))
        case .timedOut(.connecting): return failed(.unreachable("connecting took too long"))
        default: return plain
        }
    }

    /// Returns the error for an answer that is the proxy's and not the server's; nil if it is the server's.
    func problem(with status: Int) -> TransportError? {
        guard case .forward(let proxy, let login) = self, status == 407 else { return nil }
        return .proxy("\(proxy)", .wantsLogin(hasLogin: login != nil))
    }

    private var parts: (Proxy, ProxyLogin?)? {
        switch self {
        case .direct: nil
        case .tunnel(let proxy, let login), .forward(let proxy, let login): (proxy, login)
        }
    }

    /// The reason in a proxy's reply (RFC 1928, section 6).
    private static func text(_ reply: SOCKSServerReply) -> String {
        switch reply {
        case .notAllowed: "it is not allowed"
        case .networkUnreachable: "no network"
        case .hostUnreachable: "the server cannot be reached or its name is unknown"
        case .refused: "connection refused"
        case .ttlExpired: "the server took too long"
        case .addressUnsupported: "the proxy does not take this kind of address"
        default: "the proxy failed"
        }
    }
}

/// Writes the server's address into the request line, which otherwise holds the target alone.
private final class WholeAddresses: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
            return context.write(data, promise: promise)
        }
        head.uri = "http://\(host)\(head.uri)"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
