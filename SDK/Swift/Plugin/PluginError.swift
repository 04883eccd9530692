/// The failure of a call: a status for the host, and a sentence for people.
///
/// ```swift
/// guard item.localID != nil else { throw PluginError(.failed, "the item has no id") }
/// ```
public struct PluginError: Error, Sendable, CustomStringConvertible {
    /// The status that the call returns to the host, or that a function of the host returned.
    public var status: Status
    /// The operation that failed and the thing that it failed for: one sentence without a full stop.
    public var message: String

    /// Creates an error.
    public init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The ``message``.
    public var description: String { message }
}

/// The status of a function of the ABI that failed.
///
/// ```swift
/// do {
///     try host.require(host.actions, .actions).download("8f31", key: "download:8f31")
/// } catch where error.status == .notFound {
///     host.log?.info("the item is gone")
/// }
/// ```
public struct Status: RawRepresentable, Hashable, Sendable {
    /// The status in the ABI, a negative number.
    public var rawValue: Int32

    /// Creates a status from its number in the ABI.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The operation could not be done.
    public static let failed = Status(rawValue: LARDER_FAILED)
    /// An argument makes no sense: a condition that does not parse, or a number out of range.
    public static let invalidArgument = Status(rawValue: LARDER_INVALID_ARGUMENT)
    /// There is no such item, policy, key, record or project.
    public static let notFound = Status(rawValue: LARDER_NOT_FOUND)
    /// The thing exists already.
    public static let alreadyExists = Status(rawValue: LARDER_ALREADY_EXISTS)
    /// The thing changed since it was read: read it again.
    public static let conflict = Status(rawValue: LARDER_CONFLICT)
    /// The operator did not grant it, or it would break a promise of the host.
    public static let denied = Status(rawValue: LARDER_DENIED)
    /// The host or the server does not offer it.
    public static let unsupported = Status(rawValue: LARDER_UNSUPPORTED)
    /// The thing is too long or too large, or there are too many of them.
    public static let limit = Status(rawValue: LARDER_LIMIT)
    /// The host is about to stop, or the call's time is up.
    public static let cancelled = Status(rawValue: LARDER_CANCELLED)
    /// Reading or writing failed, or the server did not answer.
    public static let io = Status(rawValue: LARDER_IO)
    /// The plugin called the host outside of a call from the host, or on another thread than that call's.
    public static let wrongThread = Status(rawValue: LARDER_WRONG_THREAD)
    /// The function is not allowed in the current call.
    public static let wrongState = Status(rawValue: LARDER_WRONG_STATE)
    /// The callee made a mistake of its own.
    public static let `internal` = Status(rawValue: LARDER_INTERNAL)
}

extension Status {
    /// Throws unless a function of the host returned `LARDER_OK`.
    static func check(_ status: larder_status, _ function: StaticString) throws(PluginError) {
        guard status != LARDER_OK else { return }
        throw PluginError(Status(rawValue: status), "the host's \(function) failed: \(Status(rawValue: status).reason)")
    }

    private var reason: String {
        switch self {
        case .failed: "the operation could not be done"
        case .invalidArgument: "an argument is invalid"
        case .notFound: "not found"
        case .alreadyExists: "it exists already"
        case .conflict: "it changed since it was read"
        case .denied: "it is not allowed"
        case .unsupported: "it is not offered"
        case .limit: "a limit is reached"
        case .cancelled: "the call should end"
        case .io: "reading or writing failed"
        case .wrongThread: "this is the wrong thread"
        case .wrongState: "it is not allowed in this call"
        default: "status \(rawValue)"
        }
    }
}
