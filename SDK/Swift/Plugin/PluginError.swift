/// A call that failed: the status for the host, and a sentence for people.
public struct PluginError: Error, Sendable, CustomStringConvertible {
    public var status: Status
    /// What happened, to what: one sentence without a full stop.
    public var message: String

    public init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }

    public var description: String { message }
}

/// What a function of the ABI returns when it did not do what it is for.
public struct Status: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// What was called for could not be done.
    public static let failed = Status(rawValue: LARDER_FAILED)
    /// An argument makes no sense: a condition that does not parse, a number out of range.
    public static let invalidArgument = Status(rawValue: LARDER_INVALID_ARGUMENT)
    /// There is no such item, policy, key or project.
    public static let notFound = Status(rawValue: LARDER_NOT_FOUND)
    /// It is there already.
    public static let alreadyExists = Status(rawValue: LARDER_ALREADY_EXISTS)
    /// It changed since it was read: read it again.
    public static let conflict = Status(rawValue: LARDER_CONFLICT)
    /// The operator did not grant it, or it would break a promise of the host.
    public static let denied = Status(rawValue: LARDER_DENIED)
    /// It is not offered here.
    public static let unsupported = Status(rawValue: LARDER_UNSUPPORTED)
    /// It is too long, too large or one too many.
    public static let limit = Status(rawValue: LARDER_LIMIT)
    /// The host is about to stop, or the call's time is up.
    public static let cancelled = Status(rawValue: LARDER_CANCELLED)
    /// Reading or writing failed, or the server did not answer.
    public static let io = Status(rawValue: LARDER_IO)
    /// The host was called outside a call of its own, or on another thread than that call's.
    public static let wrongThread = Status(rawValue: LARDER_WRONG_THREAD)
    /// It is not allowed in the call under way.
    public static let wrongState = Status(rawValue: LARDER_WRONG_STATE)
    /// A mistake of the callee's own.
    public static let `internal` = Status(rawValue: LARDER_INTERNAL)
}

extension Status {
    /// Throws unless a function of the host's said that it is done.
    static func check(_ status: larder_status, _ function: StaticString) throws(PluginError) {
        guard status != LARDER_OK else { return }
        throw PluginError(Status(rawValue: status), "the host's \(function) answered \(Status(rawValue: status).name)")
    }

    private var name: String {
        switch self {
        case .failed: "that it failed"
        case .invalidArgument: "that an argument is invalid"
        case .notFound: "that there is no such thing"
        case .alreadyExists: "that it is there already"
        case .conflict: "that it changed meanwhile"
        case .denied: "that it is not allowed"
        case .unsupported: "that it is not offered"
        case .limit: "that a limit is reached"
        case .cancelled: "that the call is to end"
        case .io: "that reading or writing failed"
        case .wrongThread: "that this is the wrong thread"
        case .wrongState: "that it is not allowed in this call"
        default: "with the status \(rawValue)"
        }
    }
}
