/// An entry of a server's listing of a folder.
public struct ListedItem: Hashable, Sendable {
    /// The item's path.
    public var path: ItemPath
    /// Whether the item is a file or a folder.
    public var kind: Item.Kind
    /// The server's `oc:id`, or nil if the server has none.
    public var fileID: FileID?
    /// The server's ETag, or its substitute.
    public var etag: ETag?
    /// The size in bytes, if the server reports it.
    public var size: Int64?
    /// The modification time, if the server reports it.
    public var lastModified: Timestamp?
    /// The media type, if the server reports it.
    public var mimeType: String?
    /// Whether the server lists the item as a favorite.
    public var isFavorite: Bool
    /// The owner, if the server reports it.
    public var owner: String?
    /// The permissions, if the server reports them.
    public var permissions: String?

    /// Creates an entry.
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

/// An entry of a listing that cannot be kept here, because its name would leave the tree, is too long, is not UTF-8 or
/// is reserved.
public struct UnusableEntry: Hashable, Sendable {
    /// The href as people read it: decoded, but for slashes in names and what is not text or cannot be printed.
    public var href: String
    /// The reason why the entry cannot be kept.
    public var problem: ItemPath.Problem

    /// Creates an unusable entry.
    public init(href: String, problem: ItemPath.Problem) {
        self.href = href
        self.problem = problem
    }
}
