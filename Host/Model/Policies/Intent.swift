/// A request of a plugin to the host. Nothing happens before the call in which the plugin made the request has returned
/// successfully.
public struct Intent: Hashable, Sendable {
    /// The change that a plugin requests.
    public enum Change: Hashable, Sendable {
        /// A download of the item's newest version. For a folder: the wish to keep it here as a folder. A current copy
        /// is adopted: its trigger becomes that of the requesting plugin, and the former trigger is remembered. With
        /// `whileCovered` the download is dropped before its first request if no policy of the plugin's kind covers the
        /// item any more.
        case download(LocalID, whileCovered: Bool)
        /// An update of a copy that is here and of which the server has a newer version. The copy keeps its trigger.
        case update(LocalID)
        /// The removal of an item that is no longer on the server, with its copy unless the copy is modified or used.
        case purge(LocalID)
        /// The removal of the copy here unless it is modified. With `restoringFormerTrigger` an adopted copy stays,
        /// gets its former trigger back, and counts as used now. With `unusedSince` the copy stays if somebody uses it,
        /// or has used it since then.
        case removeLocalCopy(LocalID, restoringFormerTrigger: Bool, unusedSince: Timestamp?)
        /// A change of the server.
        case server(PluginChange)
        /// The addition of a policy. `runsTrigger` tells whether `policiesChanged` follows.
        case addPolicy(ItemPolicy, runsTrigger: Bool)
        case updatePolicy(ItemPolicy, runsTrigger: Bool)
        case removePolicy(PolicyID, runsTrigger: Bool)
        case putValue(key: [UInt8], value: [UInt8])
        case deleteValue(key: [UInt8])
    }

    /// The plugin that made the request.
    public var plugin: PluginID
    /// The requested change.
    public var change: Change
    /// The idempotency key. Two requests of a plugin with the same key ask for the same thing: while the first is under
    /// way, the second does nothing. Without a key, requests for one action on one item ask for the same thing. Nil for
    /// policies and values too.
    public var key: String?

    /// Creates a request.
    public init(plugin: PluginID, change: Change, key: String?) {
        self.plugin = plugin
        self.change = change
        self.key = key
    }
}

extension Intent.Change {
    /// The name of the change in dry runs and explanations.
    public var name: String {
        switch self {
        case .download: "download"
        case .update: "update"
        case .removeLocalCopy: "removeLocalCopy"
        case .purge: "purge"
        case .server(let change): change.kind.rawValue
        case .addPolicy: "addPolicy"
        case .updatePolicy: "updatePolicy"
        case .removePolicy: "removePolicy"
        case .putValue: "putValue"
        case .deleteValue: "deleteValue"
        }
    }

    /// Whether the change is an action of the sync engine, which has a key and may become a record.
    public var isAction: Bool {
        switch self {
        case .download, .update, .removeLocalCopy, .purge, .server: true
        case .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: false
        }
    }

    /// Whether the change is an upload, which may hold a snapshot.
    public var isUpload: Bool { if case .server(.upload) = self { true } else { false } }

    /// The item that the change is about, or nil if it is about no item.
    public var item: LocalID? {
        switch self {
        case .download(let item, _), .update(let item), .removeLocalCopy(let item, _, _), .purge(let item): item
        case .server(let change): change.item
        case .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: nil
        }
    }
}
