/// A plugin that processes items. Conform a struct to it and hand its type to ``export(_:to:)``.
///
/// The host calls it on one thread at a time. `init` is the start of the work and the end of the value its stop; what a call
/// asks of the host counts when the call returns, and is forgotten when it throws.
public protocol ItemPolicyProcessor: SendableMetatype {
    static var description: PluginDescription { get }
    /// The kind of policies that it is for.
    static var kind: String { get }
    /// The fields that it reads of items.
    static var fields: ItemFields { get }
    /// How many of the actions that it asked for may be under way at a time; nil: any number. What goes beyond is not handed
    /// over, and comes again with ``Trigger/syncCapacity``, which must be among the ``triggers``.
    static var maximumRecords: Int? { get }
    /// The JSON Schema of its settings; nil: it has none.
    static var settingsSchema: String? { get }

    /// Starts: asks for services and reads the settings.
    init(host: Host) throws(PluginError)

    /// Asked before each run.
    var triggers: TriggerSet { get }
    /// What the policies cover; nil: nothing.
    var policyCondition: String? { get }
    /// Which items ``performAction(on:for:)`` is called for; nil: none. Asked after ``willEnter(_:)``.
    var matchCondition: String? { get }
    /// Which items ``performCleanup(on:for:)`` is called for; nil: none. Asked after matching.
    var cleanupCondition: String? { get }

    /// Takes all policies of its kind, in place of those that it had.
    mutating func updatePolicies(_ policies: [ItemPolicy]) throws(PluginError)
    /// Brings policies up to date.
    /// - Parameter changed: what was added, updated or removed, if the trigger is ``Trigger/itemsChanged``; nothing for all
    ///   others.
    mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError)
    mutating func willEnter(_ trigger: Trigger) throws(PluginError)
    mutating func beginMatching(for trigger: Trigger) throws(PluginError)
    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError)
    mutating func endMatching(for trigger: Trigger) throws(PluginError)
    mutating func beginCleanup(for trigger: Trigger) throws(PluginError)
    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError)
    mutating func endCleanup(for trigger: Trigger) throws(PluginError)
    mutating func didPass(_ trigger: Trigger) throws(PluginError)
}

/// What a processor that does not care need not write.
extension ItemPolicyProcessor {
    public static var maximumRecords: Int? { nil }
    public static var settingsSchema: String? { nil }
    public var policyCondition: String? { nil }
    public var matchCondition: String? { nil }
    public var cleanupCondition: String? { nil }
    public mutating func updatePolicies(_ policies: [ItemPolicy]) throws(PluginError) {}
    public mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError) {}
    public mutating func willEnter(_ trigger: Trigger) throws(PluginError) {}
    public mutating func beginMatching(for trigger: Trigger) throws(PluginError) {}
    public mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {}
    public mutating func endMatching(for trigger: Trigger) throws(PluginError) {}
    public mutating func beginCleanup(for trigger: Trigger) throws(PluginError) {}
    public mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError) {}
    public mutating func endCleanup(for trigger: Trigger) throws(PluginError) {}
    public mutating func didPass(_ trigger: Trigger) throws(PluginError) {}
}
