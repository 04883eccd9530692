/// When a claim is valid.
public indirect enum ClaimValidity: Hashable, Sendable {
    /// Until it is removed.
    case explicit
    /// Before this time.
    case until(Timestamp)
    /// While this process lives.
    case process(ProcessIdentity)
    /// While all of them are; without any it is never valid.
    case all([ClaimValidity])
    /// While one of them is; without any it is never valid.
    case any([ClaimValidity])
    /// While the other is not.
    case not(ClaimValidity)

    /// Where a claim stands: whether it is valid, and whether that can change.
    public enum Standing: Hashable, Sendable {
        /// It is valid and always will be.
        case always
        /// It is valid and may end.
        case now
        /// It is not valid and may become so.
        case notNow
        /// It is not valid and never will be.
        case over

        public var isValid: Bool { self == .always || self == .now }

        var inverted: Standing {
            switch self {
            case .always: .over
            case .now: .notNow
            case .notNow: .now
            case .over: .always
            }
        }
    }

    /// Finds out where a claim of this validity stands.
    public func standing(in world: ClaimWorld) -> Standing {
        switch self {
        case .explicit: return .always
        case .until(let time): return world.now < time ? .now : .over
        case .process(let process): return world.isAlive(process) ? .now : .over
        case .not(let other): return other.standing(in: world).inverted
        case .all(let members):
            let standings = Set(members.map { $0.standing(in: world) })
            if standings.isEmpty || standings.contains(.over) { return .over }
            if standings.contains(.notNow) { return .notNow }
            return standings.contains(.now) ? .now : .always
        case .any(let members):
            let standings = Set(members.map { $0.standing(in: world) })
            if standings.contains(.always) { return .always }
            if standings.contains(.now) { return .now }
            return standings.contains(.notNow) ? .notNow : .over
        }
    }
}

/// The state of the world that claims are judged by.
public struct ClaimWorld: Sendable {
    public var now: Timestamp
    /// Whether the process lives; one that cannot be told of counts as living.
    public var isAlive: @Sendable (ProcessIdentity) -> Bool

    public init(now: Timestamp, isAlive: @escaping @Sendable (ProcessIdentity) -> Bool) {
        self.now = now
        self.isAlive = isAlive
    }
}

/// One process of one run of a system. A process that gets the same number later is another.
public struct ProcessIdentity: Hashable, Sendable {
    public var pid: Int32
    /// When it began, in clock ticks since the system's start (`proc(5)`, `/proc/PID/stat`).
    public var started: UInt64
    /// The run of the system (`random(4)`, `boot_id`).
    public var boot: String

    public init(pid: Int32, started: UInt64, boot: String) {
        self.pid = pid
        self.started = started
        self.boot = boot
    }
}
