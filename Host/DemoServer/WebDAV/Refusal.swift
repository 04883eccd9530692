import HTTPTypes

/// The reason why the server refuses a request to change something.
package enum Refusal: Error {
    case notFound
    /// A target folder that does not exist.
    case noParent
    /// A target that exists already.
    case exists
    /// A file where a folder is needed, or the reverse.
    case wrongKind
    /// A move or a copy of a folder into itself.
    case intoItself
    case preconditionFailed
    /// An action that the user's permissions do not include.
    case notPermitted(String)
    /// A lock whose token the request lacks.
    case locked(Lock)
    /// A lock that cannot be had because of another lock.
    case conflictingLock(Lock)
    /// A token that names no lock of the item.
    case wrongToken
    case noSpace
    case malformed(String)
    /// A body of a kind that the method does not take.
    case unsupportedBody
}

extension Refusal {
    /// The answer, with the body that servers of the ownCloud family send.
    package var answer: Answer {
        switch self {
        case .notFound: Self.answer(404, "NotFound", "The item could not be found")
        case .noParent: Self.answer(409, "Conflict", "Parent node does not exist")
        case .exists: Self.answer(405, "MethodNotAllowed", "The resource you tried to create already exists")
        case .wrongKind: Self.answer(409, "Conflict", "PUT is not allowed on non-files.")
        case .intoItself: Self.answer(403, "Forbidden", "Source and destination are the same, or within each other")
        case .preconditionFailed: Self.answer(412, "PreconditionFailed", "A condition of the request was not met")
        case .notPermitted(let action): Self.answer(403, "Forbidden", "The permissions do not allow to \(action)")
        case .locked(let lock): Self.answer(lock, lacking: "lock-token-submitted")
        case .conflictingLock(let lock): Self.answer(lock, lacking: "no-conflicting-lock")
        case .wrongToken:
            Self.answer(
                409, "LockTokenMatchesRequestUri", "The lock token names no lock of this item",
                more: XMLWriter.files.element(.dav("lock-token-matches-request-uri")))
        case .noSpace: Self.answer(507, "InsufficientStorage", "The user's quota does not suffice")
        case .malformed(let problem): Self.answer(400, "BadRequest", problem)
        case .unsupportedBody:
            Self.answer(415, "UnsupportedMediaType", "The method does not take a body of this type")
        }
    }

    /// Returns an error as sabre/dav writes it, the WebDAV library of ownCloud and Nextcloud.
    private static func answer(_ status: Int, _ exception: String, _ message: String, more: String = "") -> Answer {
        let writer = XMLWriter.files
        return Answer(
            .init(code: status), type: "application/xml; charset=utf-8",
            text: writer.document(
                .dav("error"),
                writer.text(.sabre("exception"), "Sabre\\DAV\\Exception\\\(exception)")
                    + writer.text(.sabre("message"), message) + more))
    }

    private static func answer(_ lock: Lock, lacking precondition: String) -> Answer {
        let writer = XMLWriter.files
        let owner = lock.ownerText.isEmpty ? "somebody" : lock.ownerText
        return answer(
            423, "Locked", "\(lock.root.text) is locked by \(owner)",
            more: writer.element(.dav(precondition), writer.text(.dav("href"), lock.href))
                + writer.element(.dav("owner"), lock.owner))
    }
}
