import NIOHTTP1

/// The ways of authentication that a server offers in `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct Challenge: Equatable {
    /// The names of the schemes in lower case.
    var schemes: [String]

    /// Reads all `WWW-Authenticate` fields. A field may hold several challenges with parameters between commas. A
    /// scheme is therefore a token that is followed by a space or the end, not by `=`.
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

    /// Whether the server accepts only schemes that Larder does not offer, such as Digest.
    var isBeyondUs: Bool { !schemes.isEmpty && !schemes.contains("basic") && !schemes.contains("bearer") }
}
