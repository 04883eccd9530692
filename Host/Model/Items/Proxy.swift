/// A proxy that requests to an account's server go through. Its login is not part of it.
public struct Proxy: Hashable, Sendable, CustomStringConvertible {
    /// The protocol that the proxy speaks.
    public enum Kind: Hashable, Sendable {
        /// HTTP (RFC 9110, section 7.3.2): CONNECT for a server with TLS, else the whole address in the request.
        case http
        /// SOCKS version 5 (RFC 1928). The proxy looks the server's name up.
        case socks5
    }

    /// The protocol that the proxy speaks.
    public var kind: Kind
    /// The proxy's name or address, without the brackets of an IPv6 address.
    public var host: String
    /// The proxy's port.
    public var port: Int

    /// Creates a proxy.
    public init(_ kind: Kind, host: String, port: Int) {
        (self.kind, self.host, self.port) = (kind, host, port)
    }

    /// The host and the port, as they stand in an address.
    public var authority: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
    /// The proxy's address.
    public var description: String { (kind == .http ? "http://" : "socks5://") + authority }
}

/// The username and the password for a proxy. Their text form does not contain them.
public struct ProxyLogin: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The username.
    public var username: String
    /// The password.
    public var password: String

    /// Creates a login.
    public init(username: String, password: String) { (self.username, self.password) = (username, password) }

    public var description: String { "(login)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
