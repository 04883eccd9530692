/// The kind of an item.
///
/// ```swift
/// let folders: Condition = .type == .folder
/// ```
public enum ItemType: UInt32, Sendable {
    /// A file.
    case file = 0
    /// A folder.
    case folder = 1
}

/// The place of an item's content.
///
/// ```swift
/// if item.cloudStatus == .locallyModified { host.log?.info("it has local changes") }
/// ```
public enum CloudStatus: UInt32, Sendable {
    /// The item is on the server only.
    case cloudOnly = 0
    /// The file has a local copy, which is the server's current version or an earlier one. The folder is kept here as a
    /// folder.
    case localCopy = 1
    /// The local copy has changes that the server is not known to have.
    case locallyModified = 2
    /// The item is here only.
    case localOnly = 3
}

/// Whether the server has a newer version than the local copy.
///
/// ```swift
/// let outdated: Condition = .cloudStatus == .localCopy && .remoteVersion == .newer
/// ```
public enum RemoteVersion: UInt32, Sendable {
    /// The copy is the newest version that the server is known to have.
    case current = 0
    /// The server has a newer version.
    case newer = 1
}

/// Whether policies keep an item here.
///
/// ```swift
/// if item.availableOffline == Coverage.none { host.log?.debug("no policy keeps it here") }
/// ```
public enum Coverage: UInt32, Sendable {
    /// No policy keeps the item here.
    case none = 0
    /// A policy names the item itself.
    case direct = 1
    /// A policy names a folder above the item.
    case indirect = 2
}

/// The operations that are in progress on an item.
///
/// ```swift
/// if item.syncActivity?.isEmpty == false { host.log?.debug("it is being synchronised") }
/// ```
public struct SyncActivity: OptionSet, Hashable, Sendable {
    /// The set in the ABI.
    public var rawValue: UInt32

    /// Creates a set from the ABI's.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The host downloads the item.
    public static let downloading = SyncActivity(rawValue: LARDER_SYNC_DOWNLOADING)
    /// The host uploads the item.
    public static let uploading = SyncActivity(rawValue: LARDER_SYNC_UPLOADING)
    /// The host deletes the item on the server.
    public static let deleting = SyncActivity(rawValue: LARDER_SYNC_DELETING)
    /// The host moves the item on the server.
    public static let moving = SyncActivity(rawValue: LARDER_SYNC_MOVING)
    /// The host copies the item on the server.
    public static let copying = SyncActivity(rawValue: LARDER_SYNC_COPYING)
    /// The host creates the item on the server.
    public static let creating = SyncActivity(rawValue: LARDER_SYNC_CREATING)
    /// The host updates the item.
    public static let updating = SyncActivity(rawValue: LARDER_SYNC_UPDATING)
}

/// Claims on an item's local copy. The host removes no copy that is claimed.
///
/// ```swift
/// if item.claims?.contains(.write) == true { host.log?.debug("somebody needs this very version") }
/// ```
public struct Claims: OptionSet, Hashable, Sendable {
    /// The set in the ABI.
    public var rawValue: UInt32

    /// Creates a set from the ABI's.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Somebody needs a version of the copy here, the newest if possible.
    public static let read = Claims(rawValue: LARDER_CLAIM_READ)
    /// Somebody needs this very version of the copy here.
    public static let write = Claims(rawValue: LARDER_CLAIM_WRITE)
    /// Somebody needs any version of the copy here.
    public static let delete = Claims(rawValue: LARDER_CLAIM_DELETE)
}
