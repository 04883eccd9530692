/// One entry of a server's listing of a folder.
public struct ListedItem: Hashable, Sendable {
    public var path: ItemPath
    public var kind: Item.Kind
    /// `oc:id`; nil where the server has none.
    public var fileID: FileID?
    /// The server's ETag, or its substitute.
    public var etag: ETag?
    public var size: Int64?
    public var lastModified: Timestamp?
    public var mimeType: String?
    public var isFavorite: Bool
    public var owner: String?
    public var permissions: String?

    public init(
        path: ItemPath, kind: Item.Kind, fileID: FileID? = nil, etag: ETag? = nil, size: Int64? = nil,
        lastModified: Timestamp? = nil, mimeType: String? = nil, isFavorite: Bool = false, owner: String? = nil,
        permissions: String? = nil
    ) {
        self.path = path
        self.kind = kind
        self.fileID = fileID
        self.etag = etag
        self.size = size
        self.lastModified = lastModified
        self.mimeType = mimeType
        self.isFavorite = isFavorite
        self.owner = owner
        self.permissions = permissions
    }
}

/// An entry of a listing that cannot be kept here: its name would leave the tree, is too long or is not UTF-8.
public struct UnusableEntry: Hashable, Sendable {
    /// The href as the server sent it, with anything unprintable percent-encoded.
    public var href: String
    public var problem: ItemPath.Problem

    public init(href: String, problem: ItemPath.Problem) {
        self.href = href
        self.problem = problem
    }
}
