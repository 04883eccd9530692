/// A set of fields of an item.
///
/// ```swift
/// let fields: ItemFields = [.path, .size]
/// ```
public struct ItemFields: OptionSet, Hashable, Sendable {
    /// The mask in the ABI: one bit for each field.
    public var rawValue: UInt64

    /// Creates a set from the ABI's mask.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    init(bit: Int32) { rawValue = 1 << UInt64(bit) }

    /// ``Item/path``.
    public static let path = ItemFields(bit: LARDER_FIELD_PATH)
    /// ``Item/name``.
    public static let name = ItemFields(bit: LARDER_FIELD_NAME)
    /// ``Item/type``.
    public static let type = ItemFields(bit: LARDER_FIELD_TYPE)
    /// ``Item/size``.
    public static let size = ItemFields(bit: LARDER_FIELD_SIZE)
    /// ``Item/mimeType``.
    public static let mimeType = ItemFields(bit: LARDER_FIELD_MIME_TYPE)
    /// ``Item/etag``.
    public static let etag = ItemFields(bit: LARDER_FIELD_ETAG)
    /// ``Item/fileID``.
    public static let fileID = ItemFields(bit: LARDER_FIELD_FILE_ID)
    /// ``Item/localID``.
    public static let localID = ItemFields(bit: LARDER_FIELD_LOCAL_ID)
    /// ``Item/lastModified``.
    public static let lastModified = ItemFields(bit: LARDER_FIELD_LAST_MODIFIED)
    /// ``Item/lastUsed``.
    public static let lastUsed = ItemFields(bit: LARDER_FIELD_LAST_USED)
    /// ``Item/cloudStatus``.
    public static let cloudStatus = ItemFields(bit: LARDER_FIELD_CLOUD_STATUS)
    /// ``Item/downloadTrigger``.
    public static let downloadTrigger = ItemFields(bit: LARDER_FIELD_DOWNLOAD_TRIGGER)
    /// ``Item/isRemoved``.
    public static let removed = ItemFields(bit: LARDER_FIELD_REMOVED)
    /// ``Item/isFavorite``.
    public static let favorite = ItemFields(bit: LARDER_FIELD_FAVORITE)
    /// ``Item/remoteVersion``.
    public static let remoteVersion = ItemFields(bit: LARDER_FIELD_REMOTE_VERSION)
    /// ``Item/parentPath``.
    public static let parentPath = ItemFields(bit: LARDER_FIELD_PARENT_PATH)
    /// ``Item/owner``.
    public static let owner = ItemFields(bit: LARDER_FIELD_OWNER)
    /// ``Item/permissions``.
    public static let permissions = ItemFields(bit: LARDER_FIELD_PERMISSIONS)
    /// ``Item/availableOffline``.
    public static let availableOffline = ItemFields(bit: LARDER_FIELD_AVAILABLE_OFFLINE)
    /// ``Item/syncActivity``.
    public static let syncActivity = ItemFields(bit: LARDER_FIELD_SYNC_ACTIVITY)
    /// ``Item/localPath``.
    public static let localPath = ItemFields(bit: LARDER_FIELD_LOCAL_PATH)
    /// ``Item/shares``.
    public static let shares = ItemFields(bit: LARDER_FIELD_SHARES)
    /// ``Item/claims``.
    public static let claims = ItemFields(bit: LARDER_FIELD_CLAIMS)
}
