/// An explanation of what one processor would do with one item.
public struct Explanation: Sendable {
    /// The processor's plugin.
    public var plugin: PluginID
    /// The kind of policies that the processor processes.
    public var kind: PolicyKind
    /// The trigger that the explanation assumes: a finished scan, if the processor is called for it. Nil if the
    /// processor wants no trigger now.
    public var trigger: Trigger?
    /// The policies of the processor's kind whose condition the item meets.
    public var policies: [PolicyID] = []
    /// Whether the item meets the match condition.
    public var matches = false
    /// Whether the item meets the cleanup condition.
    public var cleanup = false
    /// The deciding part of a condition: of the condition that the item meets, else of the one that it meets soonest by
    /// the passing of time alone, else of the match condition, or of the cleanup condition if there is no match
    /// condition. Nil if the processor has no condition.
    public var because: Condition?
    /// The requests that the processor would make for the item now.
    public var now: [Wish] = []
    /// The change of the processor's answer if nothing but time passes, or nil if the answer never changes.
    public var change: Condition.Change?
    /// The requests that the processor would make after that change.
    public var then: [Wish] = []

    /// What the processor itself says of the item; nil if it says nothing, or could not be asked.
    public var says: String?

    /// Creates an explanation without requests.
    public init(plugin: PluginID, kind: PolicyKind) {
        self.plugin = plugin
        self.kind = kind
    }
}

/// A request that a processor would make, or a call that it would get.
public struct Wish: Hashable, Sendable {
    /// The processor's plugin.
    public var plugin: PluginID
    /// The call in which the processor would make the request, as traces name it.
    public var call: String
    /// The path that the request or the call is about, or nil if it has no path.
    public var path: ItemPath?
    /// The path at which the request would make something; nil if it makes nothing, or if that is ``path``.
    public var target: ItemPath?
    /// The request, named as ``Intent/Change/name``. Nil if the call is made for the item and requests nothing.
    public var would: String?

    /// Creates a request.
    public init(plugin: PluginID, call: String, path: ItemPath?, target: ItemPath? = nil, would: String?) {
        self.plugin = plugin
        self.call = call
        self.path = path
        self.target = target
        self.would = would
    }
}
