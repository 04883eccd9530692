/// What one processor makes of one item.
public struct Explanation: Sendable {
    public var plugin: PluginID
    public var kind: PolicyKind
    /// The trigger that was asked about: the finished scan, if the processor is called for it. Nil: it wants none now.
    public var trigger: Trigger?
    /// The policies of its kind whose condition the item meets.
    public var policies: [PolicyID] = []
    /// Whether the item meets the match condition, and the cleanup condition.
    public var matches = false
    public var cleanup = false
    /// The part of a condition that decides: of the one that the item meets, else of the one that it meets soonest by time alone,
    /// else of the match condition, or the cleanup condition where there is none. Nil without any condition.
    public var because: Condition?
    /// What it would ask for the item now.
    public var now: [Wish] = []
    /// When its answer changes if nothing but time passes; nil: never.
    public var change: Condition.Change?
    /// What it would ask for then.
    public var then: [Wish] = []

    public init(plugin: PluginID, kind: PolicyKind) {
        self.plugin = plugin
        self.kind = kind
    }
}

/// Something that a processor would ask for.
public struct Wish: Hashable, Sendable {
    public var plugin: PluginID
    /// The call in which it would ask, as traces name it.
    public var call: String
    /// What the wish, or the call, is about; nil: nothing with a path.
    public var path: ItemPath?
    /// As ``Intent/Change/name``; nil: the call is made for the item, and asks for nothing.
    public var would: String?

    public init(plugin: PluginID, call: String, path: ItemPath?, would: String?) {
        self.plugin = plugin
        self.call = call
        self.path = path
        self.would = would
    }
}
