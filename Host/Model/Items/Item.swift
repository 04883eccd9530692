/// A file or folder of the account, as the database knows it.
public struct Item: Hashable, Sendable {
    /// The kind of an item. The raw values are stored in the database.
    public enum Kind: Int, Sendable {
        case file = 0
        case folder = 1
    }

    /// The id of the item's row.
    public var databaseID: ItemRowID
    /// The id that Larder gave the item.
    public var localID: LocalID
    /// The server's id of the item. Nil for an item that is only here (`localOnly`).
    public var fileID: FileID?
    /// The item's path on the server.
    public var path: ItemPath
    /// Whether the item is a file or a folder.
    public var kind: Kind
    /// The size in bytes. For a folder: the size of everything below it, if the server reports that.
    public var size: Int64?
    /// The media type, as the server reports it.
    public var mimeType: String?
    /// The newest version that is known to be on the server.
    public var etag: ETag?
    /// The modification time, as the server reports it.
    public var lastModified: Timestamp?
    /// Whether the server lists the item as a favorite.
    public var isFavorite: Bool
    /// The owner, as the server reports it.
    public var owner: String?
    /// The permissions, as the server reports them.
    public var permissions: String?
    /// The time when the item was removed from the server, or nil if it is still there. The row and the copy of a
    /// removed item stay until they are vacuumed.
    public var removedAt: Timestamp?
    /// The place of the item's content: on the server, here, or both.
    public var cloudStatus: CloudStatus
    /// The local copy, if there is one.
    public var copy: LocalCopy?
    /// The requester of the copy, if the copy was requested.
    public var downloadTrigger: DownloadTrigger?
    /// The trigger that the copy gets back when its current requester lets it go.
    public var formerTrigger: DownloadTrigger?
    /// The time of the last use.
    public var lastUsed: Timestamp?
    /// The actions that are under way for the item.
    public var syncActivity: SyncActivity
    /// The database's anchor when the row was last written.
    public var anchor: Int64

    /// Creates an item.
    public init(
        databaseID: ItemRowID = .none, localID: LocalID, fileID: FileID?, path: ItemPath, kind: Kind,
        size: Int64? = nil,
        mimeType: String? = nil, etag: ETag? = nil, lastModified: Timestamp? = nil, isFavorite: Bool = false,
        owner: String? = nil, permissions: String? = nil, removedAt: Timestamp? = nil,
        cloudStatus: CloudStatus = .cloudOnly, copy: LocalCopy? = nil, downloadTrigger: DownloadTrigger? = nil,
        formerTrigger: DownloadTrigger? = nil, lastUsed: Timestamp? = nil, syncActivity: SyncActivity = [],
        anchor: Int64 = 0
    ) {
        self.databaseID = databaseID
        self.localID = localID
        self.fileID = fileID
        self.path = path
        self.kind = kind
        self.size = size
        self.mimeType = mimeType
        self.etag = etag
        self.lastModified = lastModified
        self.isFavorite = isFavorite
        self.owner = owner
        self.permissions = permissions
        self.removedAt = removedAt
        self.cloudStatus = cloudStatus
        self.copy = copy
        self.downloadTrigger = downloadTrigger
        self.formerTrigger = formerTrigger
        self.lastUsed = lastUsed
        self.syncActivity = syncActivity
        self.anchor = anchor
    }

    /// Whether the item is no longer on the server.
    public var isRemoved: Bool { removedAt != nil }

    /// Whether the server has a newer version than the copy here, or nil if the item has no copy of a server's version.
    public var remoteVersion: RemoteVersion? {
        switch cloudStatus {
        case .cloudOnly, .localOnly: nil
        case .localCopy, .locallyModified: kind == .folder || copy?.etag == etag ? .current : .newer
        }
    }
}

/// The place of an item's content.
public enum CloudStatus: Int, Sendable, CaseIterable {
    /// On the server only.
    case cloudOnly = 0
    /// Also here, as a version that the server gave or took. For a folder: kept here as a folder.
    case localCopy = 1
    /// Here, with changes that the server is not known to have.
    case locallyModified = 2
    /// Here only.
    case localOnly = 3

    /// The name of the status, as in conditions and JSON output.
    public var name: String {
        switch self {
        case .cloudOnly: "cloudOnly"
        case .localCopy: "localCopy"
        case .locallyModified: "locallyModified"
        case .localOnly: "localOnly"
        }
    }
}

/// The comparison of the copy here with the newest version on the server. The raw values are stored in the database.
public enum RemoteVersion: Int, Sendable {
    case current = 0
    case newer = 1
    /// The name of the value, as in conditions and JSON output.
    public var name: String { self == .current ? "current" : "newer" }
}

/// The actions that are under way for an item.
public struct SyncActivity: OptionSet, Hashable, Sendable {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// A download.
    public static let downloading = SyncActivity(rawValue: 1 << 0)
    /// An upload.
    public static let uploading = SyncActivity(rawValue: 1 << 1)
    /// A deletion.
    public static let deleting = SyncActivity(rawValue: 1 << 2)
    /// A move.
    public static let moving = SyncActivity(rawValue: 1 << 3)
    /// A copy to another path.
    public static let copying = SyncActivity(rawValue: 1 << 4)
    /// A creation.
    public static let creating = SyncActivity(rawValue: 1 << 5)
    /// An update.
    public static let updating = SyncActivity(rawValue: 1 << 6)

    /// The names of all actions, in the order of their bits.
    static let allNames = ["downloading", "uploading", "deleting", "moving", "copying", "creating", "updating"]

    /// Creates the set with the one action of this name, or returns nil if no action has the name.
    init?(name: String) {
        guard let bit = Self.allNames.firstIndex(of: name) else { return nil }
        self.init(rawValue: 1 << Int64(bit))
    }

    /// The names of the actions in JSON output.
    public var names: [String] { Self.allNames.enumerated().filter { rawValue & (1 << $0.offset) != 0 }.map(\.element) }
}

/// The facts about a file in the tree: the version of its bytes, and the file's mark when these facts were recorded.
public struct LocalCopy: Hashable, Sendable {
    /// The server's version whose bytes the file had.
    public var etag: ETag
    /// The SHA-256 digest of the bytes, 32 bytes.
    public var digest: [UInt8]
    /// The file's mark after the file was put in place.
    public var mark: FileMark

    /// Creates the facts about a file.
    public init(etag: ETag, digest: [UInt8], mark: FileMark) {
        self.etag = etag
        self.digest = digest
        self.mark = mark
    }
}

/// A file's mark: inode, size and times, by which the file is known again without being read.
public struct FileMark: Codable, Hashable, Sendable {
    /// The inode number.
    public var inode: UInt64
    /// The size in bytes.
    public var size: Int64
    /// The time of the last modification (`st_mtim`).
    public var modified: Timestamp
    /// The time of the last status change (`st_ctim`).
    public var changed: Timestamp
    /// The wall clock's time when the mark was taken. A file that changed less than one step of its times before this
    /// moment may change again and keep its mark.
    public var recorded: Timestamp

    /// Creates a mark.
    public init(inode: UInt64, size: Int64, modified: Timestamp, changed: Timestamp, recorded: Timestamp) {
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.recorded = recorded
    }

    /// Tells whether inode, size and times are the same. The time when the mark was taken does not matter.
    public func matches(_ other: FileMark) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified && changed == other.changed
    }

    /// A duration longer than the step of any Linux kernel's coarse clock (10 ms at 100 Hz), by which file systems set
    /// times. A file system may store the times more coarsely still.
    public static let clockStep: Duration = .milliseconds(20)

    /// Tells whether a change after the mark was taken would show in the mark. If not, the content must be read and
    /// compared.
    /// - Parameter step: The time within which a file that changes again may keep its times.
    public func isConclusive(step: Duration) -> Bool { changed + step < recorded }
}
