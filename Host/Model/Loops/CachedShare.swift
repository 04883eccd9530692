/// A share of a file or folder, as a loop cached it.
public struct CachedShare: Hashable, Sendable {
    public var id: RecordKey
    /// `byMe` or `withMe`.
    public var direction: String?
    /// The item's path in the account.
    public var path: String?
    public var shareType: Given?
    public var owner: String?
    public var sharedWith: String?
    public var permissions: Given?
    /// As the server tells it; ``expires`` is the time that it means.
    public var expiration: String?
    /// Of a public link.
    public var url: String?
    public var state: Given?

    /// When it ends; nil: never, or the server's text is no time. OCS tells a day, or a time without its zone, which is taken for UTC.
    public var expires: Timestamp? {
        guard let expiration else { return nil }
        return ["", "Z", "T00:00:00Z"].lazy.compactMap { Timestamp(rfc3339: expiration + $0) }.first
    }

    /// What servers give as a number or as a word.
    public enum Given: Hashable, Sendable {
        case number(Int64)
        case word(String)
    }

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
