import Model
import Transfer

extension ConnectionError {
    /// Creates the error for an answer whose status is not the expected one.
    /// - Parameters:
    ///   - status: The answer's status.
    ///   - headers: The answer's header fields.
    ///   - document: The beginning of the answer's body.
    ///   - doing: The request in words for a person: `listing /Photos`.
    ///   - origin: The origin that answered.
    ///   - now: The time to compare a date in `Retry-After` with, if the answer has no `Date`.
    ///   - sentence: The server's own sentence about the reason, if it may be told.
    init(
        status: Int, headers: HTTPHeaders, document: [UInt8], doing: String, at origin: ServerAddress.Origin,
        now: Timestamp, sentence: String? = nil
    ) {
        let said = "\(origin) answered \(status) while \(doing)"
        switch status {
        case 401: self.init(.credentials, at: origin)
        case 400 where !origin.isTLS && Self.asksForTLS(document):
            self.init(
                .protocolViolation, "\(origin) speaks TLS at this port, but the account's url begins with http://",
                hint: "write https:// in the account's url")
        case 403:
            self.init(
                .forbidden, "\(said): the account is not allowed to do this",
                hint: "check what the account may do on the server")
        case 404, 410: self.init(.notFound, "\(said): there is no such item")
        case 412: self.init(.versionChanged, "\(said): the item has changed on the server")
        case 503 where Self.tellsOfMaintenance(headers, document):
            self.init(.maintenance, "\(origin) is in maintenance mode", hint: "wait until it is back")
        case 405, 501:
            self.init(
                .protocolViolation, "\(said): the server does not speak WebDAV at this address",
                hint:
                    "check the account's url: it must be a WebDAV collection, or the root of a server of the "
                    + "ownCloud family"
            )
        case 408, 423, 425, 429, 500, 502, 503, 504, 506...599:
            self.init(.serverError, said, hint: "wait, or check the server's log")
        default:
            self.init(.protocolViolation, "\(said), which makes no sense there", hint: "check the account's url")
        }
        self.status = status
        if let sentence, kind != .maintenance, kind != .authentication {
            message += " (the server says: \(sentence))"
        }
        if isTransient {
            let now = headers.first(name: "Date").flatMap { Timestamp(httpDate: $0) } ?? now
            retryAfter = headers.first(name: "Retry-After").flatMap { RetryAfter.duration($0, now: now) }
        }
    }

    /// Creates the error for a server that does not let the account in.
    init(_ refusal: Login.Refusal, at origin: ServerAddress.Origin) {
        switch refusal {
        case .noCredentials:
            self.init(
                .authentication, "\(origin) asks for a name and a password",
                hint: "set username and password, or token, in the account's config")
        case .credentials:
            self.init(
                .authentication, "\(origin) does not accept the account's name and password or token",
                hint: .checkCredentials)
        case .kinds(let names):
            let names = names.map { PercentCoding.printable($0) }.joined(separator: ", ")
            self.init(
                .authentication, "\(origin) offers no kind of login that the account can use, only \(names)",
                hint:
                    "check auth in the account's config, or let the server offer Basic or Digest, which take a password, "
                    + "or Bearer, which takes a token")
        }
        status = 401
    }

    /// Tells whether a document is a common web server's answer to HTTP at a port for TLS.
    private static func asksForTLS(_ document: [UInt8]) -> Bool {
        let text = String(decoding: document, as: UTF8.self)
        return [
            "plain HTTP request was sent to HTTPS port", "speaking plain HTTP to an SSL-enabled",
            "HTTP request to an HTTPS server",
        ].contains { text.contains($0) }
    }

    /// Tells whether the server is in maintenance mode. Nextcloud sends a header field, and other servers of the family
    /// write the text into the error document.
    private static func tellsOfMaintenance(_ headers: HTTPHeaders, _ document: [UInt8]) -> Bool {
        headers.contains(name: "X-Nextcloud-Maintenance-Mode")
            || String(decoding: document, as: UTF8.self).contains("aintenance mode")
    }
}
