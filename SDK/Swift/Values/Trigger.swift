/// What sets processors to work.
public struct Trigger: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Items were added, updated or removed by one transaction.
    public static let itemsChanged = Trigger(rawValue: LARDER_TRIGGER_ITEMS_CHANGED)
    /// A scan finished with changes, or is the first to finish since the start.
    public static let itemListUpdateCompleted = Trigger(rawValue: LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED)
    /// A scan finished and found nothing new.
    public static let itemListUpdateCompletedWithoutChanges = Trigger(
        rawValue: LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES)
    /// A policy was added, updated or removed.
    public static let policiesChanged = Trigger(rawValue: LARDER_TRIGGER_POLICIES_CHANGED)
    /// The processor has work left and may ask for more.
    public static let syncCapacity = Trigger(rawValue: LARDER_TRIGGER_SYNC_CAPACITY)
    /// Time has passed, and no scan has finished meanwhile.
    public static let timer = Trigger(rawValue: LARDER_TRIGGER_TIMER)
}

/// A set of triggers.
public struct TriggerSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public init(arrayLiteral triggers: Trigger...) {
        rawValue = triggers.reduce(0) { $0 | 1 << $1.rawValue }
    }

    /// Every trigger, those of later versions included.
    public static let all = TriggerSet(rawValue: LARDER_TRIGGERS_ALL)
}
