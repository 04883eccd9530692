/// The condition under which a claim is valid.
public indirect enum ClaimValidity: Hashable, Sendable {
    /// Valid until the claim is removed.
    case explicit
    /// Valid before this time.
    case until(Timestamp)
    /// Valid while this process lives.
    case process(ProcessIdentity)
    /// Valid while all members are valid; never valid without members.
    case all([ClaimValidity])
    /// Valid while one of the members is valid; never valid without members.
    case any([ClaimValidity])
    /// Valid while the other validity is not.
    case not(ClaimValidity)

    /// The standing of a claim: whether it is valid, and whether that can change.
    public enum Standing: Hashable, Sendable {
        /// Valid now and for ever.
        case always
        /// Valid now, but the validity may end.
        case now
        /// Not valid now, but the claim may become valid.
        case notNow
        /// Not valid, now or ever.
        case over

        /// Whether the claim is valid now.
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

    /// Returns the standing of a claim with this validity.
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

/// The state of the world by which claims are judged.
public struct ClaimWorld: Sendable {
    /// The time to judge by.
    public var now: Timestamp
    /// Tells whether a process lives. A process whose state cannot be found out counts as living.
    public var isAlive: @Sendable (ProcessIdentity) -> Bool

    /// Creates a state of the world.
    public init(now: Timestamp, isAlive: @escaping @Sendable (ProcessIdentity) -> Bool) {
        self.now = now
        self.isAlive = isAlive
    }
}

/// A process within one run of a system. Another process that later gets the same number has another identity.
public struct ProcessIdentity: Hashable, Codable, Sendable {
    /// The process id.
    public var pid: Int32
    /// The time when the process began, in clock ticks since the system's start (`proc(5)`, `/proc/PID/stat`).
    public var started: UInt64
    /// The run of the system (`random(4)`, `boot_id`).
    public var boot: String

    /// Creates the identity of a process.
    public init(pid: Int32, started: UInt64, boot: String) {
        self.pid = pid
        self.started = started
        self.boot = boot
    }
}

/// A validity is encoded as an object with one member, named after the case.
extension ClaimValidity: Codable {
    private enum Key: String, CodingKey, CaseIterable { case explicit, until, process, all, any, not }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard container.allKeys.count == 1, let key = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "one of \(Key.allCases.map(\.rawValue).joined(separator: ", ")) is needed"))
        }
        self =
            switch key {
            case .explicit: .explicit
            case .until: .until(try container.decode(Timestamp.self, forKey: key))
            case .process: .process(try container.decode(ProcessIdentity.self, forKey: key))
            case .all: .all(try container.decode([ClaimValidity].self, forKey: key))
            case .any: .any(try container.decode([ClaimValidity].self, forKey: key))
            case .not: .not(try container.decode(ClaimValidity.self, forKey: key))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .explicit: try container.encode(true, forKey: .explicit)
        case .until(let time): try container.encode(time, forKey: .until)
        case .process(let process): try container.encode(process, forKey: .process)
        case .all(let members): try container.encode(members, forKey: .all)
        case .any(let members): try container.encode(members, forKey: .any)
        case .not(let other): try container.encode(other, forKey: .not)
        }
    }
}
