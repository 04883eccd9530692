import Connection
import Database
public import Model

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

/// What keeps an account of a running host from going on.
public struct AccountTrouble: Sendable {
    public var message: String
    public var hint: String?
    /// When the host tries again.
    public var nextTry: Timestamp
}

/// Which kind of server an account has, and why it is taken for that.
public struct ServerReport: Sendable, Hashable {
    /// What a server is. The raw values are those of JSON output.
    public enum Kind: String, Sendable {
        case ownCloudFamily, webDAV
        /// It has no files, but perhaps calendars.
        case noFiles
    }

    public var kind: Kind
    public var product: String?
    public var version: String?
    /// Where the account's files are.
    public var root: String
    public var because: String
    /// Whether an item is known again that has moved: items have ids. Elsewhere a move is a removal and a new item.
    public var recognizesMoves: Bool

    public init(
        kind: Kind, product: String? = nil, version: String? = nil, root: String, because: String,
        recognizesMoves: Bool = false
    ) {
        (self.kind, self.product, self.version) = (kind, product, version)
        (self.root, self.because, self.recognizesMoves) = (root, because, recognizesMoves)
    }

    init(_ server: KnownServer) {
        let kind: Kind = !server.hasFiles ? .noFiles : server.isOwnCloudFamily ? .ownCloudFamily : .webDAV
        let because =
            switch (kind, server.evidence) {
            case (.noFiles, _): "the account's url is no folder of files"
            case (.ownCloudFamily, .statusDocument): "it has a status document, and items have oc:id"
            case (.ownCloudFamily, _): "it has capabilities, and items have oc:id"
            case (.webDAV, .none) where server.hasFileIDs:
                "it has neither a status document nor capabilities, though items have oc:id"
            case (.webDAV, .none): "it has no status document, and items have no oc:id"
            case (.webDAV, _): "items have no oc:id, though it has a status document"
            }
        self.init(
            kind: kind, product: server.product, version: server.version, root: server.root, because: because,
            recognizesMoves: server.hasFileIDs)
    }
}

/// How an account is.
public struct AccountStatus: Sendable {
    /// Its name in the config.
    public var account: String
    public var connection = ConnectionState.offline
    /// Whether a host is at work for it.
    public var isRunning = false
    /// How the connection was when a host was last at work; nil: none has asked the server yet.
    public var lastConnection: ConnectionState?
    /// When the item list was last known to be whole; nil: never.
    public var lastScan: Timestamp?
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
    /// Why the account does not go on, although its host runs; nil: it does, or no host runs.
    public var trouble: AccountTrouble?
    /// That the server refuses the account.
    public var refusal: AuthenticationFailure?
    /// Which kind of server was found; nil: none was yet.
    public var server: ServerReport?
    /// A folder's ETag was once the same although something in it had changed: ETags are not believed since, and every scan lists
    /// every folder.
    public var etagsWereWrong = false
    /// What the running host knows of the plugins, or the last one knew.
    public var plugins = PluginNotes()

    /// Of an account of which nothing is known yet.
    public init(account: String) { self.account = account }
}
