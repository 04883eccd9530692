extension PlainRequest {
    /// The methods that a server may be sent twice with the effect of once.
    public static let idempotentMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PROPFIND", "REPORT", "PROPPATCH", "MKCOL", "MKCALENDAR", "SEARCH",
    ]

    /// The methods that event loops may use. They do not include TRACE, with which a server repeats the request and the
    /// account's password, and the methods that a server defines itself.
    public static let methods = idempotentMethods.union(["POST", "PATCH", "COPY", "MOVE"])

    /// The reason why the method or a header is not sent.
    public enum Problem: Hashable, Sendable {
        /// The method is not one of ``PlainRequest/methods``.
        case method
        /// The header's name is no token, or its value has control characters (RFC 9110, section 5.5).
        case header(String)
        /// The header is one that the host sets itself.
        case hostsHeader(String)
    }

    /// The first reason why the method or a header is not sent; nil if there is none.
    public var problem: Problem? {
        guard Self.methods.contains(method) else { return .method }
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter),
                value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f })
            else { return .header(name) }
            guard !Self.hostsHeaders.contains(name.lowercased()) else { return .hostsHeader(name) }
        }
        return nil
    }

    private static let hostsHeaders: Set<String> = [
        "authorization", "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
        "trailer", "expect", "proxy-authorization", "proxy-connection", "user-agent", "accept-encoding", "x-request-id",
    ]
}

extension UInt8 {
    /// Whether the byte may stand in a token (RFC 9110, section 5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
