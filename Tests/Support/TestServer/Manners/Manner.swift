/// The manner of a server where WebDAV leaves servers free, or where real servers fail. A manner is no fault: it is
/// permanent.
public struct Manner: Sendable {
    /// The form of files' ETags.
    public enum FileETags: Sendable {
        /// `"x"`, a new one for every write.
        case strong
        /// `W/"x"`.
        case weak
        /// `x` in listings, `"x"` in an answer's head.
        case unquoted
        case none
        /// No ETag in listings, a strong one in an answer's head.
        case onlyOnGet
        /// An ETag made of id, size and whole seconds. Two writes of the same size within a second have the same ETag.
        case ofSizeAndSecond
        /// `W/"x"` until a second after the file's modification time, `"x"` from then on, as Apache's mod_dav gives it.
        case weakInFirstSecond
    }

    /// The folders whose ETags change with an item.
    public enum Propagation: Sendable {
        /// All folders above the change, up to the root.
        case toRoot
        /// The folder that contains the change.
        case toParent
        case none

        var levels: Int {
            switch self {
            case .toRoot: .max
            case .toParent: 1
            case .none: 0
            }
        }
    }

    /// The answer to `Depth: infinity`.
    public enum DepthInfinity: Sendable {
        /// Status 403, with the precondition's name.
        case refused
        case granted
        /// The answer to `Depth: 1`, without any sign of the difference.
        case oneLevel
    }

    /// The form of files' ETags.
    public var fileETags = FileETags.strong
    /// Whether folders have ETags.
    public var folderETags = true
    /// The folders whose ETags change with an item, from now on.
    public var propagation = Propagation.toRoot
    /// The answer to `Depth: infinity`.
    public var depthInfinity = DepthInfinity.refused
    /// The status with which the server refuses to tell favorites; nil if it tells them.
    public var favoritesStatus: Int?
    /// Whether the server tells no favorites when it is asked for all of them, whatever its listings tell.
    public var favoritesAreForgotten = false
    /// The ids that items have in listings, by their own ones: a share of a folder has the folder's ids.
    public var sharedIDs: [String: String] = [:]
    /// The tags that items have in ETags, by their own ones.
    public var sharedTags: [String: String] = [:]
    /// Whether listings have `oc:id`, `oc:fileid`, `oc:size`, `oc:permissions` and `oc:checksums`.
    public var ownCloudProperties = true
    /// Whether the server has `/status.php` and the addresses below `/ocs`.
    public var statusDocument = true
    /// Whether the server is in maintenance mode: its status document reports it, and every other answer is 503.
    public var maintenance = false
    /// Whether the server heeds `Range`.
    public var ranges = true
    /// Whether an answer to GET announces its length.
    public var contentLength = true
    /// The poll interval in milliseconds that the capabilities ask for; nil for none.
    public var pollInterval: Int? = 30_000

    /// Whether the server heeds `If-Match` and `If-None-Match` in requests that write. rclone and nginx do not.
    public var conditions = true
    /// The `Server` field of each answer; nil for none. A proxy writes its own name there.
    public var serverName: String?
    /// Whether the answer to a PUT has the new ETag.
    public var etagsOnPut = true
    /// The largest body of a request in bytes, as in nginx's `client_max_body_size`; nil for no limit.
    public var largestBody: Int?
    /// What the server says of resumable uploads; nil if it does not offer them.
    public var tus: TusSettings? = TusSettings()

    /// What the server does as Nextcloud; nil if it is another one.
    public var nextcloud: NextcloudManner?

    /// The user's quota in bytes, where the tree itself has none.
    public var quota = 10 << 30
    /// The manner in which the server serves calendars.
    public var calendars = CalendarManner()
    /// The manner in which the server lists shares.
    public var shares = ShareManner()
    /// The hints of changes that the server offers.
    public var hints = HintManner()
    /// Whether the server has plain JSON events at `/events`.
    public var events = false

    public init() {}

    /// The manner of a server that ignores conditions, behind a proxy whose name is that of a server that heeds them.
    public static var behindApache: Manner {
        var manner = Manner.plain
        manner.conditions = false
        manner.serverName = "Apache/2.4.62 (Debian)"
        return manner
    }

    /// The manner of a plain WebDAV server: nothing of ownCloud's, no calendars, and folder ETags that change with the
    /// folder's children alone.
    public static var plain: Manner {
        var manner = Manner()
        manner.ownCloudProperties = false
        manner.statusDocument = false
        manner.propagation = .toParent
        manner.tus = nil
        manner.calendars.offered = false
        return manner
    }
}
