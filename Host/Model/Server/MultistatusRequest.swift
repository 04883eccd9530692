/// The depth of a listing below a folder (RFC 4918, section 10.2).
public enum Depth: String, Sendable, Hashable {
    /// The item itself.
    case zero = "0"
    /// The folder and its direct children.
    case one = "1"
    /// The folder and everything below it. Many servers refuse this depth (403), and some answer with the direct
    /// children only and give no sign of it.
    case infinity
}

/// A PROPFIND or REPORT request (RFC 4918, section 9.1; RFC 3253, section 3.6).
public struct MultistatusRequest: Sendable, Hashable {
    /// The method: `PROPFIND` or `REPORT`.
    public var method: String
    /// A percent-encoded path from the origin's root, or a URL at the account's origin.
    public var target: String
    /// The depth.
    public var depth: Depth
    /// The request's XML. Nil is allowed for PROPFIND only: the request then asks for the properties.
    public var body: [UInt8]?
    /// The properties to return, in Clark's notation: `{DAV:}getetag`.
    public var properties: [String]
    /// The time that the server may take until its answer begins.
    public var timeLimit: Duration

    /// Creates a request.
    public init(
        _ method: String = "PROPFIND", _ target: String, depth: Depth = .zero, body: [UInt8]? = nil,
        properties: [String], timeLimit: Duration = .seconds(60)
    ) {
        self.method = method
        self.target = target
        self.depth = depth
        self.body = body
        self.properties = properties
        self.timeLimit = timeLimit
    }
}

/// One `response` of a multistatus.
public struct MultistatusResponse: Sendable, Hashable {
    /// The path from the origin's root, percent-encoded in one way, so that it can be compared byte by byte:
    /// `/cal/ada/1.ics`.
    public var href: String
    /// The status of the whole response, or nil if the properties have their own.
    public var status: Int?
    /// The texts of the properties, in the order of the request. Nil for a property that the server did not report.
    ///
    /// A text is the property's character data. If the property contains elements, the text has a line for each element
    /// that contains no other element. The line consists of the element's name and, after a space, the element's text,
    /// or without text the value of its attribute `name`, if there is one: `{DAV:}href /cal/ada/`, `{DAV:}collection`.
    public var values: [String?]
    /// The names of the elements in the response's `error`, in Clark's notation.
    public var errors: [String]

    /// Creates a response.
    public init(href: String, status: Int? = nil, values: [String?] = [], errors: [String] = []) {
        self.href = href
        self.status = status
        self.values = values
        self.errors = errors
    }
}

/// The facts about a multistatus that are known when all responses have been read.
public struct MultistatusEnd: Sendable, Hashable {
    /// The sync token (RFC 6578, section 6.2), as sent, without surrounding blanks.
    public var syncToken: String?
    /// Whether the server left responses out (a 507 for the address itself; RFC 6578, section 3.6).
    public var isTruncated: Bool
    /// The names of the elements in the answer's `error`, in Clark's notation: `{DAV:}valid-sync-token`.
    public var errors: [String]

    /// Creates the facts.
    public init(syncToken: String? = nil, isTruncated: Bool = false, errors: [String] = []) {
        self.syncToken = syncToken
        self.isTruncated = isTruncated
        self.errors = errors
    }
}
