import Model
import Transfer

/// The way of an account's requests through a proxy, if it has one.
struct ProxyRoute: Sendable {
    /// The proxy; nil without one. Requests over plain HTTP go to an HTTP proxy with the server's whole address (RFC
    /// 9112, section 3.2.2), since many proxies allow CONNECT to the ports of TLS only. All others go through a
    /// connection: by CONNECT, or by SOCKS.
    let proxy: TransferProxy?

    /// Creates the way to an account's server.
    init(_ bookmark: Bookmark, _ login: ProxyLogin?) {
        guard let proxy = bookmark.proxy else {
            self.proxy = nil
            return
        }
        let isTLS = (try? ServerAddress(bookmark.url).origin.isTLS) ?? true
        let scheme = proxy.kind == .http ? "http" : "socks5h"
        self.proxy = TransferProxy(
            url: "\(scheme)://\(proxy.authority)", name: "\(proxy)",
            login: login.map { (username: $0.username, password: $0.password) },
            forwards: proxy.kind == .http && !isTLS)
    }

    /// Returns the error for an answer that is the proxy's and not the server's; nil if it is the server's.
    func problem(with status: Int) -> TransportError? {
        guard let proxy, proxy.forwards, status == 407 else { return nil }
        return .proxy(proxy.name, .wantsLogin(hasLogin: proxy.login != nil))
    }
}
