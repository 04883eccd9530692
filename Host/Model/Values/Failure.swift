/// An error for a person: what failed and on what, and what to do next.
public struct Failure: Error, Codable, Sendable, CustomStringConvertible {
    /// The class of a failure, which selects a command's exit code. The raw values are a contract.
    public enum Kind: Int32, Codable, Sendable, CaseIterable {
        /// A failure without a class of its own, or issues that wait.
        case failed = 1
        case usage = 64
        /// Input that makes no sense.
        case badData = 65
        /// An unknown item, policy, claim, plugin, project or step.
        case notFound = 66
        case unreachable = 69
        case `internal` = 70
        case cannotCreate = 73
        /// A disk that is full, a tree that is not mounted, or a failed read or write.
        case localIO = 74
        /// A vault that another host has open.
        case vaultLocked = 75
        /// An answer of the server that makes no sense.
        case protocolViolation = 76
        /// A request without authentication or permission, or a server whose certificate is not trusted.
        case denied = 77
        case config = 78
        /// A wait that took longer than it was allowed to.
        case timedOut = 124

        /// The name in JSON output, as `code`.
        public var code: String {
            switch self {
            case .failed: "failed"
            case .usage: "usage"
            case .badData: "badData"
            case .notFound: "notFound"
            case .unreachable: "unreachable"
            case .internal: "internal"
            case .cannotCreate: "cannotCreate"
            case .localIO: "localIO"
            case .vaultLocked: "vaultLocked"
            case .protocolViolation: "protocolViolation"
            case .denied: "denied"
            case .config: "config"
            case .timedOut: "timedOut"
            }
        }

        /// The order in which the kinds are considered: of several failures the first in this order selects the exit
        /// code.
        private static let order: [Kind] = [
            .internal, .localIO, .config, .vaultLocked, .denied, .protocolViolation, .unreachable, .cannotCreate,
            .badData, .notFound, .failed, .timedOut, .usage,
        ]

        /// Returns the kind that selects the exit code, or nil if there are no kinds.
        public static func worst(of kinds: some Sequence<Kind>) -> Kind? {
            let kinds = Set(kinds)
            return order.first(where: kinds.contains)
        }
    }

    /// The kind.
    public var kind: Kind
    /// The description of the failure and its object: one sentence without a full stop.
    public var message: String
    /// The next step for the person, if there is one.
    public var hint: Advice?
    /// Whether the failure needs a person: the folder of the local copies is missing, or the database is damaged.
    public var needsPerson = false
    /// Whether the account's run in this process is over, even if other failures may pass.
    public var endsAccount = false

    /// Creates a failure.
    public init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.init(kind, message, hint: hint.map { .text($0) })
    }

    /// Creates a failure with advice.
    public init(_ kind: Kind, _ message: String, hint: Advice?) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// Creates a failure that lasts until a person removes its cause.
    public static func lasting(_ kind: Kind, _ message: String, hint: String) -> Failure {
        lasting(kind, message, hint: .text(hint))
    }

    /// Creates a failure that lasts until a person removes its cause, with advice.
    public static func lasting(_ kind: Kind, _ message: String, hint: Advice) -> Failure {
        var failure = Failure(kind, message, hint: hint)
        failure.needsPerson = true
        return failure
    }

    /// The message, and below it the hint; see ``Advice/description``.
    public var description: String { hint.map { "\(message)\n\($0)" } ?? message }
}

extension Failure.Kind {
    /// The kind of a failure that concerns only one item. An error for one file does not mean that the server cannot be
    /// reached or gives invalid answers. A full disk and a rejected account keep their kind.
    public var ofOneItem: Failure.Kind {
        switch self {
        case .internal, .localIO, .config, .vaultLocked, .denied: self
        default: .failed
        }
    }
}
