import Model

/// The address of a proxy as it is written in the config or in a variable: `http://HOST:PORT`, `socks5://HOST:PORT` or
/// `socks5h://HOST:PORT`, in a variable with a username and a password too.
struct ProxyAddress: Hashable {
    var proxy: Proxy
    var login: ProxyLogin?

    /// Reads an address. As for curl, an address without a scheme is one of HTTP.
    /// - Throws: the problem, without the address, which may contain a password.
    init(_ text: String) throws(Wrong) {
        let howTo = "write http://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT"
        let colon = text.firstRange(of: "://")
        let scheme = colon.map { text[..<$0.lowerBound].lowercased() } ?? "http"
        let kind: Proxy.Kind
        switch scheme {
        case "http": kind = .http
        case "socks5", "socks5h": kind = .socks5
        default:
            let shown = scheme.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit } ? "\(scheme):// proxies" : "this"
            throw Wrong("\(shown) cannot be used; \(howTo)")
        }
        var rest = colon.map { text[$0.upperBound...] } ?? text[...]
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let username = Self.decoded(parts[0]), let password = Self.decoded(parts.count > 1 ? parts[1] : "")
            else { throw Wrong("its username or password has a `%` that encodes nothing; write %25 for `%`") }
            login = ProxyLogin(username: username, password: password)
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = Self.hostAndPort(rest, default: kind == .socks5 ? 1080 : nil) else {
            throw Wrong("it has no host, or no port from 1 to 65535; \(howTo)")
        }
        if kind == .socks5, login != nil {
            throw Wrong("a SOCKS5 proxy with a username and a password is not supported; use an HTTP proxy")
        }
        proxy = Proxy(kind, host: host, port: port)
    }

    private static func hostAndPort(_ text: Substring, default usual: Int?) -> (String, Int)? {
        let (host, port) = NetworkAddress.parts(text)
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }) else {
            return nil
        }
        guard let port else { return usual.map { (host.lowercased(), $0) } }
        return Int(port).flatMap { (1...65_535).contains($0) ? (host.lowercased(), $0) : nil }
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
