public import Model
import Storage

/// An item with what follows from the policies and the vault.
public struct ItemReport: Sendable {
    public var item: Item
    public var availableOffline: AvailableOfflineLevel
    /// Where what is here lies, absolute; nil if nothing is.
    public var localPath: String?
    /// The ids of its shares.
    public var shares: [RecordKey] = []
}

/// A policy with how much it is about.
public struct PolicyReport: Sendable {
    public var policy: ItemPolicy
    /// Files and folders that meet its condition.
    public var items: Int64
    /// What the files among them hold.
    public var bytes: Int64
}

/// Whether an account's server is at hand.
public enum ConnectionState: String, Sendable {
    /// No host runs, or there is no way to the server.
    case offline
    /// The server says that it cannot serve now.
    case unavailable
    case connecting
    case online
}

extension MetaKey {
    /// The running host's `ConnectionState`.
    static let connection = MetaKey("connection")
    /// When the running host asks the server next, in nanoseconds since 1970.
    static let nextPoll = MetaKey("nextPoll")
}

extension MetaKey {
    /// The ids of the plugins that the running host has started, a line each.
    static let runningPlugins = MetaKey("runningPlugins")
}

/// How an account is.
public struct AccountStatus: Sendable {
    /// Its name in the config.
    public var account: String
    public var connection = ConnectionState.offline
    /// The number of the last transaction that changed items.
    public var anchor: Int64 = 0
    /// Files and folders that are on the server, without the root.
    public var items: Int64 = 0
    /// Files that are here as a version of the server's, changed since or not, and what they hold.
    public var localCopies: Int64 = 0
    public var localBytes: Int64 = 0
    /// Files and folders that were changed or made here.
    public var locallyChanged: Int64 = 0
    public var records: [SyncRecord.State: Int] = [:]
    public var issues = 0
    public var policies: [PolicyReport] = []
    public var loops: [LoopState] = []
    public var nextPoll: Timestamp?
    /// A folder's ETag was once the same although something in it had changed: ETags are not believed since, and every scan lists
    /// every folder.
    public var etagsWereWrong = false
    /// The plugins that a running host has started.
    public var runningPlugins: Set<PluginID> = []

    /// Of an account of which nothing is known yet.
    public init(account: String) { self.account = account }
}
