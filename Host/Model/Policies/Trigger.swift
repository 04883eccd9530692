/// What sets item-policy processors to work.
public enum Trigger: UInt32, Sendable, CaseIterable {
    /// Items were added, updated or removed by one transaction.
    case itemsChanged = 0
    /// A scan finished with changes, or is the first to finish since the start.
    case itemListUpdateCompleted = 1
    /// A scan finished and found nothing new.
    case itemListUpdateCompletedWithoutChanges = 2
    /// A policy was added, updated or removed.
    case policiesChanged = 3
    /// A processor that has work left may ask for more actions.
    case syncCapacity = 4
    /// Time has passed and no scan has finished: for what needs no server.
    case timer = 5

    public var name: String {
        switch self {
        case .itemsChanged: "itemsChanged"
        case .itemListUpdateCompleted: "itemListUpdateCompleted"
        case .itemListUpdateCompletedWithoutChanges: "itemListUpdateCompletedWithoutChanges"
        case .policiesChanged: "policiesChanged"
        case .syncCapacity: "syncCapacity"
        case .timer: "timer"
        }
    }

    public init?(name: String) {
        guard let found = Trigger.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

/// A set of triggers.
public struct TriggerMask: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public init(_ trigger: Trigger) { rawValue = 1 << trigger.rawValue }

    public static let all = TriggerMask(rawValue: 0b11_1111)
}
