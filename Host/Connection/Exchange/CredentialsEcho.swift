import Model
import Transfer

/// A search for a request's credentials in an answer whose reader may not see them. Some servers repeat a request's
/// headers in a page for debugging. A value without I/O.
struct CredentialsEcho: Sendable {
    private let secrets: [[UInt8]]
    /// The end of the bytes so far, in which a secret may have begun.
    private var held: [UInt8] = []

    /// The length in bytes from which a secret is searched for by itself. A shorter one may stand in any text by
    /// chance; only the whole header value is searched for then.
    private static let shortest = 12

    /// Creates a search for what a request had in `Authorization`.
    init(_ authorization: Authorization) {
        var secrets: [String] = []
        switch authorization {
        case .none: break
        case .basic(let username, let password):
            let encoded = Authorization.basicToken(username, password)
            secrets.append(encoded.utf8.count >= Self.shortest ? encoded : "Basic " + encoded)
            if password.utf8.count >= Self.shortest { secrets.append(password) }
        // The password itself was not sent. Whoever has the hash can try passwords with it.
        case .digest(let answer): secrets.append(answer.response)
        case .bearer(let token):
            secrets.append(token.utf8.count >= Self.shortest ? token : "Bearer " + token)
        }
        self.secrets = secrets.map { Array($0.utf8) }
    }

    /// Tells whether a whole text contains the credentials.
    func isIn(_ text: String) -> Bool { finds(in: Array(text.utf8)) }

    /// Takes the next piece of a body.
    /// - Parameter piece: The piece; nil at the end of the body.
    /// - Returns: The bytes that may be passed on, perhaps none yet; nil if the body contains the credentials.
    mutating func next(_ piece: [UInt8]?) -> [UInt8]? {
        guard let piece else { return held.take() }
        let bytes = held + piece
        guard !finds(in: bytes) else { return nil }
        let kept = secrets.map { bytes.endThatBegins($0) }.max() ?? 0
        held = Array(bytes.suffix(kept))
        return Array(bytes.dropLast(kept))
    }

    private func finds(in bytes: [UInt8]) -> Bool {
        secrets.contains { secret in
            guard let first = secret.first else { return false }
            var rest = bytes[...]
            while let start = rest.firstIndex(of: first) {
                if rest[start...].starts(with: secret) { return true }
                rest = rest[(start + 1)...]
            }
            return false
        }
    }
}

/// A body that ends with an error before it repeats the account's credentials.
struct GuardedBody: HTTPBody {
    private var body: any HTTPBody
    private var echo: CredentialsEcho
    private var isAtEnd = false

    init(_ body: any HTTPBody, _ echo: CredentialsEcho) {
        self.body = body
        self.echo = echo
    }

    mutating func next() async throws(TransportError) -> [UInt8]? {
        while !isAtEnd {
            let piece = try await body.next()
            isAtEnd = piece == nil
            guard let bytes = echo.next(piece) else { throw .repeatsCredentials }
            if !bytes.isEmpty { return Array(bytes) }
        }
        return nil
    }
}

extension [UInt8] {
    /// Returns how many of the last bytes are the first bytes of `word`, fewer than all of `word`.
    fileprivate func endThatBegins(_ word: [UInt8]) -> Int {
        var count = Swift.min(count, word.count - 1)
        while count > 0, !suffix(count).elementsEqual(word.prefix(count)) { count -= 1 }
        return count
    }

    fileprivate mutating func take() -> [UInt8] {
        defer { self = [] }
        return self
    }
}
