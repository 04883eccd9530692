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
    /// - Throws: A ``PluginError`` if the processor cannot work. The plugin is then refused, and the message is the
    ///   reason that people see.
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
    /// - Throws: A ``PluginError`` if they cannot be taken: the run goes on, and the next run hands them over again.
    mutating func updatePolicies(_ policies: [ItemPolicy]) throws(PluginError)
    /// Brings policies up to date.
    /// - Parameter changed: what was added, updated or removed, if the trigger is ``Trigger/itemsChanged``; nothing for all
    ///   others.
    /// - Throws: A ``PluginError`` that fails this call alone: what it asked for is forgotten, and the run goes on.
    mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError)
    /// Begins a run: the time to note the clock, or to count anew.
    /// - Throws: As ``preflight(for:changed:)``.
    mutating func willEnter(_ trigger: Trigger) throws(PluginError)
    /// Begins matching. At least one item meets ``matchCondition``.
    /// - Throws: As ``preflight(for:changed:)``.
    mutating func beginMatching(for trigger: Trigger) throws(PluginError)
    /// Asks for what is to be done with an item that meets ``matchCondition``.
    /// - Throws: A ``PluginError`` that skips this item alone: what the call asked for is forgotten.
    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError)
    /// Ends matching, after all items that match.
    /// - Throws: As ``preflight(for:changed:)``.
    mutating func endMatching(for trigger: Trigger) throws(PluginError)
    /// Begins cleanup. At least one item meets ``cleanupCondition``.
    /// - Throws: As ``preflight(for:changed:)``.
    mutating func beginCleanup(for trigger: Trigger) throws(PluginError)
    /// Asks for what is to be done with an item that meets ``cleanupCondition``.
    /// - Throws: A ``PluginError`` that skips this item alone: what the call asked for is forgotten.
    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError)
    /// Ends cleanup, after all items that meet the condition.
    /// - Throws: As ``preflight(for:changed:)``.
    mutating func endCleanup(for trigger: Trigger) throws(PluginError)
    /// Ends the run.
    /// - Throws: As ``preflight(for:changed:)``.
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
