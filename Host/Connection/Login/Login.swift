import Model
import Transfer

/// How a connection logs in: which kind of login the server asks for, and the nonce of Digest. A value without I/O.
///
/// The server's first challenge decides the kind of login, and all requests after that have it at once.
struct Login: Sendable {
    let credentials: Credentials
    /// Whether a password may go out as it is before the server has asked for it: over TLS, and to this machine.
    let isProtected: Bool
    private var found: Found?
    /// The last nonces that requests may have used up, newest last: the server accepted an answer with one, or several
    /// requests have it.
    private var used: [String] = []
    /// The last nonces that requests have, newest last.
    private var handedOut: [String] = []

    private enum Found {
        case basic
        case digest(Session)
    }

    /// A nonce with the number of requests that had it.
    private struct Session {
        var challenge: DigestChallenge
        let clientNonce: String
        var count: UInt32 = 0
    }

    /// A kind of login that a 401 asks for.
    enum Kind: Equatable {
        case basic
        /// An answer to this challenge.
        case digest(DigestChallenge)
    }

    /// What follows from a 401.
    enum Decision: Equatable {
        /// The request is to be sent again, with this kind of login.
        case again(Kind)
        case refused(Refusal)
    }

    /// The reason why a server does not let the account in.
    enum Refusal: Equatable {
        /// The server asks for credentials, and the account has none.
        case noCredentials
        /// The server rejects the credentials.
        case credentials
        /// The server offers no kind of login that the account can use.
        case kinds([String])
    }

    /// The number of times that one request is sent at most: without an answer, with an answer to an old nonce, and
    /// with an answer to a new one that other requests use up meanwhile.
    static let mostTries = 4

    init(_ credentials: Credentials, isProtected: Bool) {
        self.credentials = credentials
        self.isProtected = isProtected
    }

    /// The proof of the account, if it is the same for all requests; nil if it is not, or not known yet.
    var sameForAll: Authorization? {
        if case .digest = found { return nil }
        switch credentials {
        case .none: return Authorization.none
        case .bearer(let token): return .bearer(token: token)
        case .basic(let username, let password): return .basic(username: username, password: password)
        case .password(let username, let password) where found != nil || isProtected:
            return .basic(username: username, password: password)
        case .password, .digest: return nil
        }
    }

    /// Returns the proof for the next request, and counts the request.
    /// - Parameters:
    ///   - uri: The target as the request line has it.
    ///   - kind: The kind of login that the 401 to this request asked for; nil before there was one.
    ///   - random: A source of random texts.
    mutating func authorization(
        _ method: String, _ uri: String, by kind: Kind? = nil, random: () -> String
    ) -> Authorization {
        switch credentials {
        case .none: return .none
        case .bearer(let token): return .bearer(token: token)
        case .basic(let username, let password): return .basic(username: username, password: password)
        case .password(let username, let password), .digest(let username, let password):
            if case .digest(var session) = found, kind == nil || kind == .digest(session.challenge) {
                session.count &+= 1
                noteHandedOut(session.challenge.nonce)
                found = .digest(session)
                return .digest(
                    DigestAnswer(
                        to: session.challenge, method: method, uri: uri, username: username, password: password,
                        count: session.count, clientNonce: session.clientNonce))
            }
            switch (kind, found, credentials) {
            case (.digest(let challenge), _, _):
                noteHandedOut(challenge.nonce)
                return .digest(
                    DigestAnswer(
                        to: challenge, method: method, uri: uri, username: username, password: password, count: 1,
                        clientNonce: random()))
            case (nil, nil, .digest): return .none
            case (nil, nil, _) where !isProtected: return .none
            default: return .basic(username: username, password: password)
            }
        }
    }

    /// Takes a 401.
    ///
    /// The credentials are rejected only if the request had an answer to the present challenge: with Digest, the first
    /// 401 asks for an answer, and a later one may only say that the nonce is too old.
    /// - Parameters:
    ///   - headers: The 401's header fields.
    ///   - sent: The proof that the request had.
    ///   - isGuess: Whether the address is a guess, so that its challenge may be that of another service.
    mutating func decide(
        _ headers: HTTPHeaders, after sent: Authorization, isGuess: Bool, random: () -> String
    ) -> Decision {
        let challenges = Challenge.all(in: headers)
        let offersBasic = challenges.isEmpty || challenges.contains { $0.scheme == "basic" }
        var takesBasic = false
        switch credentials {
        case .none:
            let isKnown = challenges.isEmpty || challenges.contains { Self.kinds.contains($0.scheme) }
            return .refused(isKnown ? .noCredentials : .kinds(challenges.map(\.name)))
        case .bearer: return .refused(refusal(challenges, unless: "basic", "bearer"))
        case .basic: return .refused(refusal(challenges, unless: "basic"))
        case .password: takesBasic = offersBasic
        case .digest: break
        }
        if case .basic = sent, takesBasic { return .refused(.credentials) }
        let offered = challenges.compactMap(DigestChallenge.init)
        if let challenge = offered.first(where: { $0.algorithm == .sha256 }) ?? offered.first {
            if case .digest(let answer) = sent, !isOld(answer, beside: challenge) { return .refused(.credentials) }
            keep(challenge, isGuess: isGuess, random: random)
            return .again(.digest(challenge))
        }
        // Where Digest was offered, a password is not sent as it is just because somebody asks for that now.
        if case .digest = found, isGuess || !isProtected { takesBasic = false }
        guard takesBasic else { return .refused(.kinds(challenges.map(\.name))) }
        if !isGuess { found = .basic }
        return .again(.basic)
    }

    /// Takes an answer that is not a 401. The server may name the nonce for the next request in it (RFC 7616, section
    /// 3.5).
    mutating func noteAnswer(_ status: Int, _ headers: HTTPHeaders, after sent: Authorization, random: () -> String) {
        guard case .digest(let answer) = sent else { return }
        if (200..<300).contains(status) { noteUsed(answer.challenge.nonce) }
        guard case .digest(let session) = found, session.challenge.nonce == answer.challenge.nonce else { return }
        if let next = headers.first(name: "Authentication-Info").flatMap({ Challenge.parameters(in: $0)["nextnonce"] }),
            next != session.challenge.nonce
        {
            found = .digest(Session(challenge: session.challenge.with(nonce: next), clientNonce: random()))
        }
    }

    /// The kinds of login that Larder has.
    private static let kinds: Set<String> = ["basic", "digest", "bearer"]

    private mutating func noteUsed(_ nonce: String) {
        if !used.contains(nonce) { used = used.suffix(63) + [nonce] }
    }

    private mutating func noteHandedOut(_ nonce: String) {
        if handedOut.contains(nonce) { noteUsed(nonce) } else { handedOut = handedOut.suffix(63) + [nonce] }
    }

    /// Tells whether an answer was not one to the present challenge: the server calls its nonce too old, it was for
    /// another realm, or other requests may have used the nonce up and the server has another one now.
    private func isOld(_ answer: DigestAnswer, beside challenge: DigestChallenge) -> Bool {
        if challenge.isStale || answer.challenge.realm != challenge.realm { return true }
        return answer.challenge.nonce != challenge.nonce && used.contains(answer.challenge.nonce)
    }

    /// Keeps a challenge for the requests to come. That of a guess is kept only if it renews a nonce.
    private mutating func keep(_ challenge: DigestChallenge, isGuess: Bool, random: () -> String) {
        if case .digest(let session) = found {
            if session.challenge.nonce == challenge.nonce { return }
            if isGuess, session.challenge.realm != challenge.realm { return }
        } else if isGuess {
            return
        }
        found = .digest(Session(challenge: challenge, clientNonce: random()))
    }

    /// Returns the reason for a 401 to credentials of one kind.
    private func refusal(_ challenges: [Challenge], unless kinds: String...) -> Refusal {
        let isOffered = challenges.isEmpty || challenges.contains { kinds.contains($0.scheme) }
        return isOffered ? .credentials : .kinds(challenges.map(\.name))
    }
}
