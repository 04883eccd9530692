import FoundationEssentials

/// The proof of the account in one request. Its text form does not contain the proof.
enum Authorization: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    case none
    /// Username and password (RFC 7617).
    case basic(username: String, password: String)
    /// An answer to a challenge (RFC 7616).
    case digest(DigestAnswer)
    /// A token (RFC 6750).
    case bearer(token: String)

    /// The value of the `Authorization` field; nil if the request has none.
    var field: String? {
        switch self {
        case .none: nil
        case .basic(let username, let password): "Basic " + Self.basicToken(username, password)
        case .digest(let answer): answer.field
        case .bearer(let token): "Bearer " + token
        }
    }

    /// Returns username and password as Basic authentication sends them.
    static func basicToken(_ username: String, _ password: String) -> String {
        Data("\(username):\(password)".utf8).base64EncodedString()
    }

    var description: String { "(authorization)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
