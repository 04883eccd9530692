/// A plugin that processes items. Conform a struct to it and pass its type to ``export(_:to:)``.
///
/// The host calls it on one thread at a time. `init` starts the work, and the end of the value stops it. The requests
/// of a call take effect when the call returns; the host drops them when it throws.
///
/// ```swift
/// struct Favorites: ItemPolicyProcessor {
///     static let description = PluginDescription(
///         id: "org.example.favorites", name: "Favorites", version: "1.0.0", required: [.actions])
///     static let kind = "org.example.favorites"
///     static let fields: ItemFields = [.localID, .etag]
///
///     private let actions: Host.Actions
///
///     init(host: Host) throws(PluginError) { actions = try host.require(host.actions, .actions) }
///
///     var triggers: TriggerSet { [.itemListUpdateCompleted] }
///     var matchCondition: String? {
///         let wanted: Condition = .favorite && !.removed && .cloudStatus == .cloudOnly
///         return wanted.text
///     }
///
///     mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
///         guard let localID = item.localID, let etag = item.etag else { return }
///         try actions.download(localID, key: "download:\(localID.copied()):\(etag.copied())")
///     }
/// }
/// ```
public protocol ItemPolicyProcessor: SendableMetatype {
    /// The plugin's identity and the services that it uses.
    static var description: PluginDescription { get }
    /// The kind of the policies that the processor is for: letters and digits, or the plugin's id. It is unique among
    /// the plugins of a host.
    static var kind: String { get }
    /// The fields that the processor reads of items. The host fills only these.
    static var fields: ItemFields { get }
    /// The greatest number of the processor's actions that may be in progress at a time; nil: any number. The host
    /// hands over only as many items as there is room for, and the rest later with ``Trigger/syncCapacity``, which must
    /// be among the ``triggers``.
    static var maximumRecords: Int? { get }
    /// The JSON Schema of the plugin's settings. Nil: it has none.
    static var settingsSchema: String? { get }

    /// Starts the plugin: asks for services and reads the settings.
    /// - Throws: A ``PluginError`` if the processor cannot work. The host then refuses the plugin, and shows the
    ///   message to people as the reason.
    init(host: Host) throws(PluginError)

    /// The triggers that start a run. The host asks for them before each run.
    var triggers: TriggerSet { get }
    /// The condition of the items that the policies cover. Nil: they cover nothing. The host asks for it after
    /// ``willEnter(_:)``.
    var policyCondition: String? { get }
    /// The condition of the items for which the host calls ``performAction(on:for:)``. Nil: no item. The host asks for
    /// it after ``willEnter(_:)``.
    var matchCondition: String? { get }
    /// The condition of the items for which the host calls ``performCleanup(on:for:)``. Nil: no item. The host asks for
    /// it after matching.
    var cleanupCondition: String? { get }

    /// Takes all policies of the processor's kind, which replace the policies of the call before.
    /// - Throws: A ``PluginError`` if the processor cannot take them: the host leaves matching and cleanup out of this run,
    ///   and hands the policies over again in the next one.
    mutating func updatePolicies(_ policies: [ItemPolicy]) throws(PluginError)
    /// Brings policies up to date at the start of a run.
    /// - Parameters:
    ///   - trigger: The trigger of the run.
    ///   - changed: The items that were added, updated or removed, if the trigger is ``Trigger/itemsChanged``. Empty
    ///     for all other triggers.
    /// - Throws: A ``PluginError`` if the policies may be out of date: the host drops the call's requests, and leaves
    ///   matching and cleanup out of this run.
    mutating func preflight(for trigger: Trigger, changed: inout ItemCursor) throws(PluginError)
    /// Begins the main part of a run. This is the time to read the clock or to reset counters.
    /// - Throws: As ``preflight(for:changed:)``.
    mutating func willEnter(_ trigger: Trigger) throws(PluginError)
    /// Begins matching. At least one item meets ``matchCondition``.
    /// - Throws: A ``PluginError`` that fails this call only: the host drops its requests, and the run goes on.
    mutating func beginMatching(for trigger: Trigger) throws(PluginError)
    /// Asks for actions for an item that meets ``matchCondition``. The item is borrowed for the call.
    /// - Throws: A ``PluginError`` that skips this item only: the host drops the requests of the call.
    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError)
    /// Ends matching, after the last item that meets ``matchCondition``.
    /// - Throws: A ``PluginError`` that fails this call only: the host drops its requests, and the run goes on.
    mutating func endMatching(for trigger: Trigger) throws(PluginError)
    /// Begins cleanup. At least one item meets ``cleanupCondition``.
    /// - Throws: A ``PluginError`` that fails this call only: the host drops its requests, and the run goes on.
    mutating func beginCleanup(for trigger: Trigger) throws(PluginError)
    /// Asks for actions for an item that meets ``cleanupCondition``. The item is borrowed for the call.
    /// - Throws: A ``PluginError`` that skips this item only: the host drops the requests of the call.
    mutating func performCleanup(on item: Item, for trigger: Trigger) throws(PluginError)
    /// Ends cleanup, after the last item that meets ``cleanupCondition``.
    /// - Throws: A ``PluginError`` that fails this call only: the host drops its requests, and the run goes on.
    mutating func endCleanup(for trigger: Trigger) throws(PluginError)
    /// Ends the run.
    /// - Throws: A ``PluginError`` that fails this call only: the host drops its requests, and the run goes on.
    mutating func didPass(_ trigger: Trigger) throws(PluginError)

    /// Says what the processor makes of an item, beside what its conditions tell: why it leaves alone an item that it
    /// is called for, or what it waits for. The host asks only for `larder explain`, after a run for this one item in
    /// which nothing is carried out. The call changes nothing: the host refuses what would.
    ///
    /// ```swift
    /// func explanation(of item: Item) -> String? {
    ///     item.claims?.contains(.write) == true ? "it stays as long as somebody writes to it" : nil
    /// }
    /// ```
    /// - Parameter item: The item, which need meet no condition, and may be removed. It is borrowed for the call.
    /// - Returns: A part of a sentence, without a full stop, of which the host shows the first 1,024 bytes as one line.
    ///   Nil: nothing.
    /// - Throws: A ``PluginError`` if the processor cannot tell. The host then tells what it knows by itself.
    func explanation(of item: Item) throws(PluginError) -> String?
}

/// The defaults of the members that a simple processor need not write.
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
    public func explanation(of item: Item) throws(PluginError) -> String? { nil }
}
