/// An error as a person gets it: what happened to what, and what to do next.
public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The class of a failure, which makes a command's exit code. The raw values are a contract.
    public enum Kind: Int32, Sendable, CaseIterable {
        /// Something failed, or issues wait.
        case failed = 1
        case usage = 64
        /// Input that makes no sense.
        case badData = 65
        /// No such item, policy, claim, plugin, project or step.
        case notFound = 66
        case unreachable = 69
        case `internal` = 70
        case cannotCreate = 73
        /// The disk is full, the tree is not mounted, reading or writing failed.
        case localIO = 74
        /// Another host has the vault open.
        case vaultLocked = 75
        /// The server's answer makes no sense.
        case protocolViolation = 76
        /// Not authenticated, not allowed, or the server's certificate is not trusted.
        case denied = 77
        case config = 78

        /// The name that JSON output carries as `code`.
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
            }
        }

        /// Of several failures the first in this order makes the exit code.
        private static let order: [Kind] = [
            .internal, .localIO, .config, .vaultLocked, .denied, .protocolViolation, .unreachable, .cannotCreate,
            .badData, .notFound, .failed, .usage,
        ]

        /// The one of several that makes the exit code; nil for none.
        public static func worst(of kinds: some Sequence<Kind>) -> Kind? {
            let kinds = Set(kinds)
            return order.first(where: kinds.contains)
        }
    }

    public var kind: Kind
    /// What happened, to what: one sentence without a full stop.
    public var message: String
    /// What to do next, if there is something.
    public var hint: String?
    /// Whether it does not pass by itself: the folder of the local copies is not there, the database is damaged.
    public var needsPerson = false
    /// Whether the account's run in this process is over, whatever else may pass.
    public var endsAccount = false

    public init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// One that does not pass before somebody has put something right.
    public static func lasting(_ kind: Kind, _ message: String, hint: String) -> Failure {
        var failure = Failure(kind, message, hint: hint)
        failure.needsPerson = true
        return failure
    }

    public var description: String { hint.map { "\(message)\n\($0)" } ?? message }
}
