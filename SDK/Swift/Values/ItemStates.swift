/// Whether an item is a file or a folder.
public enum ItemType: UInt32, Sendable {
    case file = 0
    case folder = 1
}

/// Where an item's content is.
public enum CloudStatus: UInt32, Sendable {
    /// On the server alone.
    case cloudOnly = 0
    /// Here too, as the server has or had it.
    case localCopy = 1
    /// Here, with changes that the server is not known to have.
    case locallyModified = 2
    /// Here alone.
    case localOnly = 3
}

/// Whether the server has another version than the copy here.
public enum RemoteVersion: UInt32, Sendable {
    case current = 0
    case newer = 1
}

/// Whether policies keep an item here.
public enum Coverage: UInt32, Sendable {
    case none = 0
    /// A policy names the item itself.
    case direct = 1
    /// A policy names a folder above it.
    case indirect = 2
}

/// What is happening to an item now.
public struct SyncActivity: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let downloading = SyncActivity(rawValue: LARDER_SYNC_DOWNLOADING)
    public static let uploading = SyncActivity(rawValue: LARDER_SYNC_UPLOADING)
    public static let deleting = SyncActivity(rawValue: LARDER_SYNC_DELETING)
    public static let moving = SyncActivity(rawValue: LARDER_SYNC_MOVING)
    public static let copying = SyncActivity(rawValue: LARDER_SYNC_COPYING)
    public static let creating = SyncActivity(rawValue: LARDER_SYNC_CREATING)
    public static let updating = SyncActivity(rawValue: LARDER_SYNC_UPDATING)
}

/// Who says that an item's copy is needed here. The host removes no copy that is claimed.
public struct Claims: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Some version of it, the newest if possible.
    public static let read = Claims(rawValue: LARDER_CLAIM_READ)
    /// This version, as it is.
    public static let write = Claims(rawValue: LARDER_CLAIM_WRITE)
    /// Some version of it.
    public static let delete = Claims(rawValue: LARDER_CLAIM_DELETE)
}
