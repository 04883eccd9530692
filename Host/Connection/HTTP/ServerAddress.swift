import Model

/// An address on a server: `http` or `https`, host, port and path (RFC 3986). It contains no name and no password.
struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The part of an address that decides where credentials may go.
    struct Origin: Hashable, Sendable, CustomStringConvertible {
        var isTLS: Bool
        /// The host, in lower case. An IPv6 address stands in brackets.
        var host: String
        var port: Int

        var description: String {
            let scheme = isTLS ? "https" : "http"
            return port == (isTLS ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
        }

        /// Whether the host is this machine.
        var isLoopback: Bool {
            if host == "localhost" || host == "[::1]" { return true }
            let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
        }
    }

    var origin: Origin
    /// The path, percent-encoded, beginning with a slash.
    var path: String
    /// The part after `?`, without the `?`; empty if there is none.
    var query = ""

    /// The reason why a text is not an address.
    enum Problem: Error, Equatable {
        case notHTTP, noHost, badPort, hasCredentials, badCharacter
    }

    init(origin: Origin, path: String, query: String = "") {
        self.origin = origin
        self.path = path
        self.query = query
    }

    /// Reads an absolute address. Drops a fragment, and percent-encodes the characters that may not stand in a path.
    init(_ text: String) throws(Problem) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { throw .badCharacter }
        guard let colon = text.range(of: "://") else { throw .notHTTP }
        let isTLS: Bool
        switch text[..<colon.lowerBound].lowercased() {
        case "https": isTLS = true
        case "http": isTLS = false
        default: throw .notHTTP
        }
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { throw .hasCredentials }
        let (host, port) = try Self.hostAndPort(authority, default: isTLS ? 443 : 80)
        origin = Origin(isTLS: isTLS, host: host, port: port)
        (path, query) = Self.pathAndQuery(rest[authority.endIndex...])
        path = Self.withoutDots(path)
    }

    private static func hostAndPort(_ authority: Substring, default usual: Int) throws(Problem) -> (String, Int) {
        var host = authority
        var port = usual
        let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            host = authority[..<colon]
            let digits = authority[authority.index(after: colon)...]
            if !digits.isEmpty {
                guard let number = Int(digits), (1...65_535).contains(number) else { throw .badPort }
                port = number
            }
        }
        guard !host.isEmpty else { throw .noHost }
        guard host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) else { throw .badCharacter }
        return (host.lowercased(), port)
    }

    private static func pathAndQuery(_ text: Substring) -> (path: String, query: String) {
        let text = text.prefix { $0 != "#" }
        let path = text.prefix { $0 != "?" }
        return (
            path.isEmpty ? "/" : PercentCoding.mended(path), PercentCoding.mended(text[path.endIndex...].dropFirst())
        )
    }

    /// Returns a path without `.` and `..` (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        var names: [Substring] = []
        for name in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if name == ".." { _ = names.popLast() } else if name != "." { names.append(name) }
        }
        let isFolder = path.hasSuffix("/.") || path.hasSuffix("/..")
        return "/" + names.joined(separator: "/") + (isFolder && !names.isEmpty ? "/" : "")
    }

    /// Returns the address that a `Location` field names in the answer for this address (RFC 3986, section 5.2).
    func resolving(_ reference: String) throws(Problem) -> ServerAddress {
        let start = reference.prefix { !"/?#".contains($0) }
        if start.contains(":") { return try ServerAddress(reference) }
        if reference.hasPrefix("//") {
            return try ServerAddress((origin.isTLS ? "https:" : "http:") + reference)
        }
        guard reference.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { throw .badCharacter }
        var (path, query) = Self.pathAndQuery(reference[...])
        if start.isEmpty, !reference.hasPrefix("/") {
            path = self.path
            if !reference.hasPrefix("?") { query = self.query }
        } else if !reference.hasPrefix("/") {
            path = "\(self.path[...(self.path.lastIndex(of: "/") ?? self.path.startIndex)])\(path)"
        }
        return ServerAddress(origin: origin, path: Self.withoutDots(path), query: query)
    }

    /// The same address with a closing slash.
    var asFolder: ServerAddress {
        ServerAddress(origin: origin, path: path.hasSuffix("/") ? path : path + "/")
    }

    /// Returns an address below this address, which ends with a slash.
    /// - Parameter encoded: The path below this address, percent-encoded, without a leading slash.
    func appending(_ encoded: String) -> ServerAddress { ServerAddress(origin: origin, path: path + encoded) }

    /// The address for people and logs, without its query, which may hold private data.
    var withoutQuery: String { "\(origin)\(path)" }

    /// The target as the request line has it: path and query.
    var target: String { "\(path)\(query.isEmpty ? "" : "?")\(query)" }

    var description: String { "\(origin)\(target)" }
}

extension String {
    /// Returns the first position at which a text occurs, byte by byte.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = utf8.startIndex
        while start != utf8.endIndex {
            if utf8[start...].starts(with: text.utf8) {
                return start..<(utf8.index(start, offsetBy: text.utf8.count))
            }
            start = utf8.index(after: start)
        }
        return nil
    }
}

extension ServerAddress {
    /// Returns the address of an item, where this one is that of the account's files.
    /// - Parameter isFolder: Whether the address gets a closing slash, as that of a folder.
    func address(of path: ItemPath, isFolder: Bool = false) -> ServerAddress {
        if path.isRoot { return self }
        return appending(PercentCoding.encoded(path: String(path.text.dropFirst())) + (isFolder ? "/" : ""))
    }
}
