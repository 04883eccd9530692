/// A trigger: an event that runs item-policy processors.
public enum Trigger: UInt32, Codable, Sendable, CaseIterable {
    /// A transaction that added, updated or removed items.
    case itemsChanged = 0
    /// A scan that finished with changes, or the first scan to finish since the start.
    case itemListUpdateCompleted = 1
    /// A scan that finished and found nothing new.
    case itemListUpdateCompletedWithoutChanges = 2
    /// An addition, update or removal of a policy.
    case policiesChanged = 3
    /// The capacity for more actions, for a processor that has work left.
    case syncCapacity = 4
    /// The passing of time without a finished scan, for work that needs no server.
    case timer = 5
    /// A transaction that added, changed or removed records of event loops.
    case recordsChanged = 6

    /// The trigger's name.
    public var name: String {
        switch self {
        case .itemsChanged: "itemsChanged"
        case .itemListUpdateCompleted: "itemListUpdateCompleted"
        case .itemListUpdateCompletedWithoutChanges: "itemListUpdateCompletedWithoutChanges"
        case .policiesChanged: "policiesChanged"
        case .syncCapacity: "syncCapacity"
        case .timer: "timer"
        case .recordsChanged: "recordsChanged"
        }
    }

    /// Creates the trigger with a name, or returns nil if no trigger has the name.
    public init?(name: String) {
        guard let found = Trigger.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// A trigger is encoded as its name.
    public init(from decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(named: Self.init(name:))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// A set of triggers.
public struct TriggerMask: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Creates a set of one trigger.
    public init(_ trigger: Trigger) { rawValue = 1 << trigger.rawValue }

    /// All triggers.
    public static let all = TriggerMask(rawValue: 0b111_1111)
}
