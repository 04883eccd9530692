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
    case malformed(String)
    /// A body of a kind that the method does not take.
    case unsupportedBody
    /// Another reason, with the answer's status, the name of its exception, its message, and what else it has as XML.
    case other(Int, exception: String, String, more: String = "")
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
        case .malformed(let problem): Self.answer(400, "BadRequest", problem)
        case .unsupportedBody:
            Self.answer(415, "UnsupportedMediaType", "The method does not take a body of this type")
        case .other(let status, let exception, let message, let more):
            Self.answer(status, exception, message, more: more)
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
}
