/// A set of an item's fields.
public struct ItemFields: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    init(bit: Int32) { rawValue = 1 << UInt64(bit) }

    public static let path = ItemFields(bit: LARDER_FIELD_PATH)
    public static let name = ItemFields(bit: LARDER_FIELD_NAME)
    public static let type = ItemFields(bit: LARDER_FIELD_TYPE)
    public static let size = ItemFields(bit: LARDER_FIELD_SIZE)
    public static let mimeType = ItemFields(bit: LARDER_FIELD_MIME_TYPE)
    public static let etag = ItemFields(bit: LARDER_FIELD_ETAG)
    public static let fileID = ItemFields(bit: LARDER_FIELD_FILE_ID)
    public static let localID = ItemFields(bit: LARDER_FIELD_LOCAL_ID)
    public static let lastModified = ItemFields(bit: LARDER_FIELD_LAST_MODIFIED)
    public static let lastUsed = ItemFields(bit: LARDER_FIELD_LAST_USED)
    public static let cloudStatus = ItemFields(bit: LARDER_FIELD_CLOUD_STATUS)
    public static let downloadTrigger = ItemFields(bit: LARDER_FIELD_DOWNLOAD_TRIGGER)
    public static let removed = ItemFields(bit: LARDER_FIELD_REMOVED)
    public static let favorite = ItemFields(bit: LARDER_FIELD_FAVORITE)
    public static let remoteVersion = ItemFields(bit: LARDER_FIELD_REMOTE_VERSION)
    public static let parentPath = ItemFields(bit: LARDER_FIELD_PARENT_PATH)
    public static let owner = ItemFields(bit: LARDER_FIELD_OWNER)
    public static let permissions = ItemFields(bit: LARDER_FIELD_PERMISSIONS)
    public static let availableOffline = ItemFields(bit: LARDER_FIELD_AVAILABLE_OFFLINE)
    public static let syncActivity = ItemFields(bit: LARDER_FIELD_SYNC_ACTIVITY)
    public static let localPath = ItemFields(bit: LARDER_FIELD_LOCAL_PATH)
    public static let shares = ItemFields(bit: LARDER_FIELD_SHARES)
    public static let claims = ItemFields(bit: LARDER_FIELD_CLAIMS)
}
