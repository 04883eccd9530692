import NIOHTTP1

/// Which ways of authentication a server offers in `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct Challenge: Equatable {
    /// The schemes' names in lower case.
    var schemes: [String]

    /// Reads all fields: one may hold several challenges with parameters between commas, so a scheme is a token that is followed
    /// by a space or the end rather than by `=`.
    init(_ headers: HTTPHeaders) {
        schemes = []
        for field in headers["WWW-Authenticate"] {
            for part in Self.partsOutsideQuotes(field) {
                let words = part.split(separator: " ", maxSplits: 1)
                guard let first = words.first, !first.contains("=") else { continue }
                schemes.append(first.lowercased())
            }
        }
    }

    private static func partsOutsideQuotes(_ field: String) -> [Substring] {
        var isQuoted = false
        return field.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }

    /// Whether the server wants only what is not offered here, such as Digest.
    var isBeyondUs: Bool { !schemes.isEmpty && !schemes.contains("basic") && !schemes.contains("bearer") }
}
