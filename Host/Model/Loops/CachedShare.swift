/// A share of a file or folder that a loop has cached.
public struct CachedShare: Hashable, Sendable {
    /// The key of the share's record.
    public var id: RecordKey
    /// The direction: `byMe` or `withMe`.
    public var direction: String?
    /// The item's path in the account.
    public var path: String?
    /// The type of the share.
    public var shareType: Given?
    /// The owner.
    public var owner: String?
    /// The recipient.
    public var sharedWith: String?
    /// The permissions.
    public var permissions: Given?
    /// The expiration as the server writes it. ``expires`` is the time that this text means.
    public var expiration: String?
    /// The address of a public link.
    public var url: String?
    /// The state of the share.
    public var state: Given?

    /// The time when the share ends, or nil if it never ends or the server's text is not a time. OCS gives a day, or a
    /// time without a zone, which is taken for UTC.
    public var expires: Timestamp? {
        guard let expiration else { return nil }
        return ["", "Z", "T00:00:00Z"].lazy.compactMap { Timestamp(rfc3339: expiration + $0) }.first
    }

    /// A value that servers give as a number or as a word.
    public enum Given: Hashable, Sendable {
        case number(Int64)
        case word(String)
    }

    /// Creates a cached share.
    public init(
        id: RecordKey, direction: String?, path: String?, shareType: Given?, owner: String?, sharedWith: String?,
        permissions: Given?, expiration: String?, url: String?, state: Given?
    ) {
        self.id = id
        self.direction = direction
        self.path = path
        self.shareType = shareType
        self.owner = owner
        self.sharedWith = sharedWith
        self.permissions = permissions
        self.expiration = expiration
        self.url = url
        self.state = state
    }
}
