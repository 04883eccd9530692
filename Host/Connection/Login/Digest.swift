import Digests

/// A server's challenge for Digest authentication (RFC 7616, section 3.3). A challenge without `qop` is answered as
/// RFC 2069 says.
struct DigestChallenge: Equatable, Sendable {
    enum Algorithm: Sendable { case md5, sha256 }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// The name of the algorithm as the server writes it; nil if the server names none.
    let algorithmName: String?
    /// Whether the first hash covers the nonces too (`-sess`).
    let isSession: Bool
    /// Whether answers have a count and a nonce of the client's (`qop=auth`).
    let hasQuality: Bool
    /// Whether the answer before was right and only its nonce too old.
    let isStale: Bool
    /// Whether the username is sent as a hash.
    let hashesUsername: Bool

    /// Reads a challenge.
    /// - Returns: nil if the challenge is not for Digest, is incomplete, or asks for what Larder does not have: another
    ///   algorithm, or the integrity of bodies (`auth-int`) alone.
    init?(_ challenge: Challenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"] else {
            return nil
        }
        let qualities = parameters["qop"]?.lowercased().split { ", \t".contains($0) }
        if let qualities, !qualities.contains("auth") { return nil }
        switch parameters["algorithm"]?.lowercased() {
        case nil, "md5": (algorithm, isSession) = (.md5, false)
        case "sha-256": (algorithm, isSession) = (.sha256, false)
        case "md5-sess" where qualities != nil: (algorithm, isSession) = (.md5, true)
        case "sha-256-sess" where qualities != nil: (algorithm, isSession) = (.sha256, true)
        default: return nil
        }
        (self.realm, self.nonce, opaque) = (realm, nonce, parameters["opaque"])
        algorithmName = parameters["algorithm"]
        hasQuality = qualities != nil
        isStale = parameters["stale"]?.lowercased() == "true"
        hashesUsername = parameters["userhash"]?.lowercased() == "true"
    }

    /// The same challenge with the nonce that the server gave for the next request.
    func with(nonce: String) -> DigestChallenge { DigestChallenge(self, nonce: nonce) }

    private init(_ old: DigestChallenge, nonce: String) {
        (realm, self.nonce, opaque, isStale) = (old.realm, nonce, old.opaque, false)
        (algorithm, algorithmName, isSession) = (old.algorithm, old.algorithmName, old.isSession)
        (hasQuality, hashesUsername) = (old.hasQuality, old.hashesUsername)
    }

    func hash(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return switch algorithm {
        case .md5: hexadecimal(MessageDigest.of(bytes, .md5))
        case .sha256: hexadecimal(MessageDigest.of(bytes))
        }
    }
}

/// An answer to a challenge. Its text form does not contain the answer.
struct DigestAnswer: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The challenge that is answered.
    let challenge: DigestChallenge
    /// The hash that only somebody with the password can compute.
    let response: String
    /// The value of the `Authorization` field.
    let field: String

    /// Computes the answer for a request (RFC 7616, section 3.4).
    /// - Parameters:
    ///   - uri: The target as the request line has it: path and query.
    ///   - count: The number of this request among those with the challenge's nonce, from 1.
    ///   - clientNonce: A random text, the same for all requests with the challenge's nonce.
    init(
        to challenge: DigestChallenge, method: String, uri: String, username: String, password: String, count: UInt32,
        clientNonce: String
    ) {
        self.challenge = challenge
        let digits = String(count, radix: 16)
        let count = String(repeating: "0", count: 8 - digits.utf8.count) + digits
        var secret = challenge.hash("\(username):\(challenge.realm):\(password)")
        if challenge.isSession { secret = challenge.hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let request = challenge.hash("\(method):\(uri)")
        let middle = challenge.hasQuality ? "\(challenge.nonce):\(count):\(clientNonce):auth" : challenge.nonce
        response = challenge.hash("\(secret):\(middle):\(request)")
        let name = challenge.hashesUsername ? challenge.hash("\(username):\(challenge.realm)") : username
        var parts = [
            "username=\(quoted(name))", "realm=\(quoted(challenge.realm))", "nonce=\(quoted(challenge.nonce))",
            "uri=\(quoted(uri))", "response=\(quoted(response))",
        ]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if challenge.hasQuality { parts += ["qop=auth", "nc=\(count)", "cnonce=\(quoted(clientNonce))"] }
        if let opaque = challenge.opaque { parts.append("opaque=\(quoted(opaque))") }
        if challenge.hashesUsername { parts.append("userhash=true") }
        field = "Digest " + parts.joined(separator: ", ")
    }

    var description: String { "(answer)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
}
