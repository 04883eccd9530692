/// How a server behaves where WebDAV leaves servers free, or where real ones fail. None of it is a fault: it stays so.
public struct Manner: Sendable {
    /// Which ETags a file has.
    public enum FileETags: Sendable {
        /// `"x"`, another one for every write.
        case strong
        /// `W/"x"`.
        case weak
        /// `x` in listings, `"x"` in an answer's head.
        case unquoted
        case none
        /// None in listings, strong ones in an answer's head.
        case onlyOnGet
        /// Made of id, size and whole seconds: two writes of one size within a second have the same.
        case ofSizeAndSecond
    }

    /// Which folders' ETags a change tells of.
    public enum Propagation: Sendable {
        /// All above the change, up to the root.
        case toRoot
        /// The folder that it is in.
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

    /// What `Depth: infinity` is answered with.
    public enum DepthInfinity: Sendable {
        /// 403, with the precondition's name.
        case refused
        case granted
        /// As if it were `Depth: 1`, without a sign of it.
        case oneLevel
    }

    public var fileETags = FileETags.strong
    public var folderETags = true
    /// How far changes are told from now on.
    public var propagation = Propagation.toRoot
    public var depthInfinity = DepthInfinity.refused
    /// `oc:id`, `oc:fileid`, `oc:size`, `oc:permissions` and `oc:checksums`.
    public var ownCloudProperties = true
    /// `/status.php`, and all that is below `/ocs`.
    public var statusDocument = true
    /// Whether the server is in maintenance mode: its status document says so, and all else is 503.
    public var maintenance = false
    /// Whether `Range` is heeded.
    public var ranges = true
    /// Whether an answer to GET says how long it is.
    public var contentLength = true
    /// The interval in milliseconds that the capabilities wish for; nil for none.
    public var pollInterval: Int? = 30_000

    /// The bytes that the user may have on the server.
    public var quota = 10 << 30
    public var calendars = CalendarManner()
    public var shares = ShareManner()
    public var hints = HintManner()
    /// Whether there are plain JSON events at `/events`.
    public var events = false

    public init() {}

    /// A plain WebDAV server: nothing of ownCloud's, and folder ETags that tell of children alone.
    public static var plain: Manner {
        var manner = Manner()
        manner.ownCloudProperties = false
        manner.statusDocument = false
        manner.propagation = .toParent
        manner.calendars.offered = false
        return manner
    }
}
