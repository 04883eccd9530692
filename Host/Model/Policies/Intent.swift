/// What a plugin asks the host for. Nothing happens before the call in which it asked has returned well.
public struct Intent: Hashable, Sendable {
    /// What is asked for.
    public enum Change: Hashable, Sendable {
        /// Fetch the item's newest version; of a folder: keep it here as a folder. A current copy is adopted: its trigger
        /// becomes the asking plugin's, the former one is remembered. With `whileCovered` it is dropped before its first
        /// request if no policy of the plugin's kind covers the item any more.
        case download(LocalID, whileCovered: Bool)
        /// Bring a copy up to date that is here and that the server has newer; it keeps its trigger.
        case update(LocalID)
        /// Forget an item that is no longer on the server, and remove its copy unless it is modified or used.
        case purge(LocalID)
        /// Remove the copy here unless it is modified. With `restoringFormerTrigger` a copy that was adopted stays, gets its
        /// former trigger back, and counts as used now. With `unusedSince` it is passed over if anybody uses it, or has used it
        /// since then.
        case removeLocalCopy(LocalID, restoringFormerTrigger: Bool, unusedSince: Timestamp?)
        /// `runsTrigger`: whether `policiesChanged` follows.
        case addPolicy(ItemPolicy, runsTrigger: Bool)
        case updatePolicy(ItemPolicy, runsTrigger: Bool)
        case removePolicy(PolicyID, runsTrigger: Bool)
        case putValue(key: [UInt8], value: [UInt8])
        case deleteValue(key: [UInt8])
    }

    public var plugin: PluginID
    public var change: Change
    /// The same key of the same plugin asks for the same thing: asked again while the first is under way, it does nothing.
    /// Nil for policies and values, which need none.
    public var key: String?

    public init(plugin: PluginID, change: Change, key: String?) {
        self.plugin = plugin
        self.change = change
        self.key = key
    }
}

extension Intent.Change {
    /// As dry runs and explanations name it.
    public var name: String {
        switch self {
        case .download: "download"
        case .update: "update"
        case .removeLocalCopy: "removeLocalCopy"
        case .purge: "purge"
        case .addPolicy: "addPolicy"
        case .updatePolicy: "updatePolicy"
        case .removePolicy: "removePolicy"
        case .putValue: "putValue"
        case .deleteValue: "deleteValue"
        }
    }

    /// The item that it is about; nil: none.
    public var item: LocalID? {
        switch self {
        case .download(let item, _), .update(let item), .removeLocalCopy(let item, _, _), .purge(let item): item
        case .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: nil
        }
    }
}
