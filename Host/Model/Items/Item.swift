/// A file or folder of the account, as the database knows it.
public struct Item: Hashable, Sendable {
    /// Whether it is a file or a folder. The raw values are the database's.
    public enum Kind: Int, Sendable {
        case file = 0
        case folder = 1
    }

    /// The row.
    public var databaseID: ItemRowID
    public var localID: LocalID
    /// Nil for what is only here (`localOnly`).
    public var fileID: FileID?
    public var path: ItemPath
    public var kind: Kind
    /// In bytes; of a folder what the server says of all below it, if it does.
    public var size: Int64?
    public var mimeType: String?
    /// The newest version that is known to be on the server.
    public var etag: ETag?
    public var lastModified: Timestamp?
    public var isFavorite: Bool
    public var owner: String?
    public var permissions: String?
    /// No longer on the server; the row and the copy stay until they are vacuumed.
    public var removedAt: Timestamp?
    public var cloudStatus: CloudStatus
    /// What is here, if anything is.
    public var copy: LocalCopy?
    public var downloadTrigger: DownloadTrigger?
    /// The trigger that a copy had before available offline adopted it.
    public var formerTrigger: DownloadTrigger?
    public var lastUsed: Timestamp?
    public var syncActivity: SyncActivity
    /// The database's anchor when the row was written last.
    public var anchor: Int64

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

    public var isRemoved: Bool { removedAt != nil }

    /// Whether the server has another version than the copy here; nil without a copy.
    public var remoteVersion: RemoteVersion? {
        switch cloudStatus {
        case .cloudOnly, .localOnly: nil
        case .localCopy, .locallyModified: kind == .folder || copy?.etag == etag ? .current : .newer
        }
    }
}

/// Where an item's content is.
public enum CloudStatus: Int, Sendable, CaseIterable {
    /// On the server alone.
    case cloudOnly = 0
    /// Here too, as a version that the server gave or took. Of a folder: it is kept here as a folder.
    case localCopy = 1
    /// Here, with changes that the server is not known to have.
    case locallyModified = 2
    /// Here alone.
    case localOnly = 3

    public var name: String {
        switch self {
        case .cloudOnly: "cloudOnly"
        case .localCopy: "localCopy"
        case .locallyModified: "locallyModified"
        case .localOnly: "localOnly"
        }
    }
}

/// Whether the server has another version than the copy here. The raw values are the database's.
public enum RemoteVersion: Int, Sendable {
    case current = 0
    case newer = 1
    public var name: String { self == .current ? "current" : "newer" }
}

/// What is happening to an item now.
public struct SyncActivity: OptionSet, Hashable, Sendable {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let downloading = SyncActivity(rawValue: 1 << 0)
    public static let uploading = SyncActivity(rawValue: 1 << 1)
    public static let deleting = SyncActivity(rawValue: 1 << 2)
    public static let moving = SyncActivity(rawValue: 1 << 3)
    public static let copying = SyncActivity(rawValue: 1 << 4)
    public static let creating = SyncActivity(rawValue: 1 << 5)
    public static let updating = SyncActivity(rawValue: 1 << 6)

    private static let allNames = ["downloading", "uploading", "deleting", "moving", "copying", "creating", "updating"]

    /// The names that JSON output carries.
    public var names: [String] { Self.allNames.enumerated().filter { rawValue & (1 << $0.offset) != 0 }.map(\.element) }
}

/// What is known of a file in the tree: the version that it holds, and what it looked like when that was recorded.
public struct LocalCopy: Hashable, Sendable {
    /// The server's version whose bytes these were.
    public var etag: ETag
    /// SHA-256 of the bytes, 32 bytes.
    public var digest: [UInt8]
    /// What the file system said of the file after it was put in place.
    public var mark: FileMark

    public init(etag: ETag, digest: [UInt8], mark: FileMark) {
        self.etag = etag
        self.digest = digest
        self.mark = mark
    }
}

/// A file's looks, by which it is known again without reading it.
public struct FileMark: Hashable, Sendable {
    public var inode: UInt64
    /// In bytes.
    public var size: Int64
    /// `st_mtim`.
    public var modified: Timestamp
    /// `st_ctim`.
    public var changed: Timestamp
    /// The wall clock when the mark was taken. A file that changed within a step of its times before this may change again and keep
    /// its looks.
    public var recorded: Timestamp

    public init(inode: UInt64, size: Int64, modified: Timestamp, changed: Timestamp, recorded: Timestamp) {
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.recorded = recorded
    }

    /// Whether all looks are the same; when the mark was taken does not matter.
    public func matches(_ other: FileMark) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified && changed == other.changed
    }

    /// Longer than the step of any Linux kernel's coarse clock (10 ms at 100 Hz), by which file systems set times. They may keep
    /// them more coarsely still.
    public static let clockStep: Duration = .milliseconds(20)

    /// Whether a change after the mark was taken shows in the looks; if not, the content is read and compared.
    /// - Parameter step: A file that changes again within this may keep its times.
    public func isConclusive(step: Duration) -> Bool { changed + step < recorded }
}
