public import Model

/// What a run of the host came to.
public struct RunOutcome: Sendable {
    /// Everything that went wrong, each once.
    public var failures: [Failure] = []
    /// Something that is not as it should be.
    public struct Left: Hashable, Sendable {
        public var path: ItemPath
        public var why: String
    }

    /// The first hundred.
    public var left: [Left] = []
    /// All of them.
    public var leftCount = 0
    /// Issues that wait for a person.
    public var issues: [Issue] = []
    /// Downloads that were put in place, and their bytes.
    public var files = 0
    public var bytes: Int64 = 0
    /// Items that the server had moved.
    public var moves = 0
    /// Files whose copies were removed here, by policies, for a person or since they are gone from the server.
    public var removed = 0
    /// Objects of calendars that came, changed or went.
    public var calendarObjects = 0

    public init() {}

    /// The exit code's class; nil if all was done.
    public var worst: Failure.Kind? { Failure.Kind.worst(of: failures.map(\.kind) + issues.map(\.failure.ofOneItem)) }

    mutating func add(_ failure: Failure) {
        guard !failures.contains(where: { $0.kind == failure.kind && $0.message.hasSameBytes(as: failure.message) })
        else {
            return
        }
        failures.append(failure)
    }
}

extension Failure.Kind {
    /// The class of a failure that concerns one item alone. That one file is answered with an error does not mean that the
    /// server cannot be reached or makes no sense; a full disk and a refused account are what they are.
    public var ofOneItem: Failure.Kind {
        switch self {
        case .internal, .localIO, .config, .vaultLocked, .denied: self
        default: .failed
        }
    }
}
