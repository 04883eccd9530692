import FoundationEssentials
import Model
import NIOCore

/// Finds an account's credentials in an answer that is meant for somebody who may not see them: some servers repeat a request's
/// headers in a page for debugging. A value without I/O.
struct CredentialsEcho: Sendable {
    private let secrets: [[UInt8]]
    /// The end of what came so far, where a secret may have begun.
    private var held: [UInt8] = []

    /// What is shorter may stand in any text by chance. Then only the header as a whole tells.
    private static let shortest = 12

    init(_ credentials: Credentials) {
        var secrets: [String] = []
        switch credentials {
        case .none: break
        case .basic(let username, let password):
            let encoded = Data("\(username):\(password)".utf8).base64EncodedString()
            secrets.append(encoded.utf8.count >= Self.shortest ? encoded : "Basic " + encoded)
            if password.utf8.count >= Self.shortest { secrets.append(password) }
        case .bearer(let token):
            secrets.append(token.utf8.count >= Self.shortest ? token : "Bearer " + token)
        }
        self.secrets = secrets.map { Array($0.utf8) }
    }

    /// Whether a whole text holds them.
    func isIn(_ text: String) -> Bool { finds(in: Array(text.utf8)) }

    /// Takes the next piece of a body.
    /// - Parameter piece: Nil: the body is at its end.
    /// - Returns: what may be handed on, perhaps nothing yet; nil: the credentials are in it.
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

    mutating func next() async throws(TransportError) -> ByteBuffer? {
        while !isAtEnd {
            let piece = try await body.next()
            isAtEnd = piece == nil
            guard let bytes = echo.next(piece.map { Array($0.readableBytesView) }) else { throw .repeatsCredentials }
            if !bytes.isEmpty { return ByteBuffer(bytes: bytes) }
        }
        return nil
    }
}

extension [UInt8] {
    /// How many of the last bytes are the first of `word`, but not all of it.
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
