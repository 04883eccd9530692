/// An event that starts processors.
///
/// ```swift
/// func cleansUp(for trigger: Trigger) -> Bool {
///     trigger == .itemListUpdateCompleted || trigger == .policiesChanged
/// }
/// ```
public struct Trigger: RawRepresentable, Hashable, Sendable {
    /// The trigger's number in the ABI.
    public var rawValue: UInt32

    /// Creates a trigger from its number in the ABI.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// One transaction added, updated or removed items. The run considers only these items.
    public static let itemsChanged = Trigger(rawValue: LARDER_TRIGGER_ITEMS_CHANGED)
    /// A scan finished with changes, or a scan finished for the first time since the start. The run considers all
    /// items.
    public static let itemListUpdateCompleted = Trigger(rawValue: LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED)
    /// A scan finished and found nothing new. The run considers all items.
    public static let itemListUpdateCompletedWithoutChanges = Trigger(
        rawValue: LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES)
    /// A policy was added, updated or removed. The run considers all items.
    public static let policiesChanged = Trigger(rawValue: LARDER_TRIGGER_POLICIES_CHANGED)
    /// An earlier run left items because ``ItemPolicyProcessor/maximumRecords`` actions were in progress, and now there
    /// is room.
    public static let syncCapacity = Trigger(rawValue: LARDER_TRIGGER_SYNC_CAPACITY)
    /// Time has passed without a finished scan, because the server is not reachable.
    public static let timer = Trigger(rawValue: LARDER_TRIGGER_TIMER)
    /// Event loops added, changed or removed records, which ``Host/records`` reads. The run considers all items. A
    /// processor whose wishes depend on records also wants ``itemListUpdateCompleted``, since the host may end between a
    /// change and its run. A host before ABI 1.2 does not know it.
    public static let recordsChanged = Trigger(rawValue: LARDER_TRIGGER_RECORDS_CHANGED)
}

/// A set of triggers.
///
/// ```swift
/// let triggers: TriggerSet = [.itemListUpdateCompleted, .policiesChanged]
/// ```
public struct TriggerSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The mask in the ABI: one bit for each trigger.
    public var rawValue: UInt32

    /// Creates a set from the ABI's mask.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates a set of the triggers in an array literal.
    public init(arrayLiteral triggers: Trigger...) {
        rawValue = triggers.reduce(0) { $0 | 1 << $1.rawValue }
    }

    /// Every trigger, including those of later versions.
    public static let all = TriggerSet(rawValue: LARDER_TRIGGERS_ALL)
}
