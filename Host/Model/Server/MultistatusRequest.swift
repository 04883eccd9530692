/// How far below a folder a listing goes (RFC 4918, section 10.2).
public enum Depth: String, Sendable, Hashable {
    /// The item itself.
    case zero = "0"
    /// The folder and its direct children.
    case one = "1"
    /// Everything below. Many servers refuse it (403), and some answer with the direct children alone and give no sign.
    case infinity
}

/// A PROPFIND or REPORT (RFC 4918, section 9.1; RFC 3253, section 3.6).
public struct MultistatusRequest: Sendable, Hashable {
    /// `PROPFIND`, `REPORT`.
    public var method: String
    /// A percent-encoded path from the origin's root, or an address at the account's origin.
    public var target: String
    public var depth: Depth
    /// The request's XML; nil, for a PROPFIND alone: it asks for the properties.
    public var body: [UInt8]?
    /// The properties to hand out, in Clark's notation: `{DAV:}getetag`.
    public var properties: [String]
    /// How long the server may take until its answer begins.
    public var timeLimit: Duration

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
    /// A path from the origin's root, percent-encoded in one way, so that it can be compared byte by byte: `/cal/ada/1.ics`.
    public var href: String
    /// Of the whole response; nil if its properties have their own.
    public var status: Int?
    /// The texts of the properties, in the order of the request; nil where the server told none.
    ///
    /// A text is the property's character data. If there are elements in the property, it has a line for each that has none in
    /// itself: its name, then a space and its text or, without one, its attribute `name`, if there is any:
    /// `{DAV:}href /cal/ada/`, `{DAV:}collection`.
    public var values: [String?]
    /// The names in its `error`, in Clark's notation.
    public var errors: [String]

    public init(href: String, status: Int? = nil, values: [String?] = [], errors: [String] = []) {
        self.href = href
        self.status = status
        self.values = values
        self.errors = errors
    }
}

/// What is known when all responses of a multistatus are there.
public struct MultistatusEnd: Sendable, Hashable {
    /// RFC 6578, section 6.2. As it was sent, without blanks around it.
    public var syncToken: String?
    /// Whether the server left some out (a 507 for the address itself; RFC 6578, section 3.6).
    public var isTruncated: Bool
    /// The names in the answer's `error`, in Clark's notation: `{DAV:}valid-sync-token`.
    public var errors: [String]

    public init(syncToken: String? = nil, isTruncated: Bool = false, errors: [String] = []) {
        self.syncToken = syncToken
        self.isTruncated = isTruncated
        self.errors = errors
    }
}
