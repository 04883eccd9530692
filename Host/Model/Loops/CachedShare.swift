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
    public var expiration: String?
    /// Of a public link.
    public var url: String?
    public var state: Given?

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
