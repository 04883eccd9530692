import Connection
import Database
public import Model

/// An item, with the facts that follow from the policies and the vault.
public struct ItemReport: Sendable {
    /// The item.
    public var item: Item
    /// The level at which the item is available offline.
    public var availableOffline: AvailableOfflineLevel
    /// Whether a valid claim is on the item.
    public var isClaimed: Bool
    /// The absolute path of the local file or folder; nil if the item is `cloudOnly`.
    public var localPath: String?
    /// The ids of the item's shares.
    public var shares: [RecordKey] = []
}

/// Whether an account's server can be reached.
public enum ConnectionState: String, Codable, Sendable {
    /// A state in which no host runs or the server cannot be reached.
    case offline
    /// A state in which the server says that it cannot serve requests now.
    case unavailable
    /// A state in which the host is connecting.
    case connecting
    /// A state in which the server answers.
    case online
}

extension MetaKey {
    /// The reason why the server cannot be reached or cannot serve requests.
    static let connectionProblem = MetaKey("connectionProblem")
    /// The running host's `ConnectionState`.
    static let connection = MetaKey("connection")
    /// The time of the running host's next poll, in nanoseconds since 1970.
    static let nextPoll = MetaKey("nextPoll")
}

extension MetaKey {
    /// The ids of the plugins that the running host has started, one per line.
    static let runningPlugins = MetaKey("runningPlugins")
}

/// The reason why an account of a running host does not go on.
public struct AccountTrouble: Hashable, Codable, Sendable {
    /// The error's message.
    public var message: String
    /// Advice on what to do about the error, if there is any.
    public var hint: String?
    /// The time of the host's next attempt; nil if it is not known.
    public var nextTry: Timestamp?

    /// Creates the trouble of an account from its parts.
    public init(message: String, hint: String?, nextTry: Timestamp? = nil) {
        (self.message, self.hint, self.nextTry) = (message, hint, nextTry)
    }
}

/// The kind of an account's server, and the evidence for it.
public struct ServerReport: Codable, Sendable, Hashable {
    /// The kind of a server. The raw values are the ones in JSON output.
    public enum Kind: String, Codable, Sendable {
        /// A server of the ownCloud family, or a plain WebDAV server.
        case ownCloudFamily, webDAV
        /// A server without files; it may have calendars.
        case noFiles
    }

    /// The kind of the server.
    public var kind: Kind
    /// The name of the server's product, if the server tells it.
    public var product: String?
    /// The version of the server's product, if the server tells it.
    public var version: String?
    /// The folder on the server that holds the account's files.
    public var root: String
    /// The evidence for the kind, as a sentence.
    public var because: String
    /// Whether the host recognizes a moved item, which it does where items have ids. Elsewhere a move is a removal and
    /// a new item.
    public var recognizesMoves: Bool

    private enum CodingKeys: String, CodingKey {
        case kind, product, version, root, because
        case recognizesMoves = "moves"
    }

    /// The product and its version, else the kind, as text.
    public var name: String {
        guard let product else { return kind == .noFiles ? "a server without files" : "a WebDAV server" }
        return [product, version].compactMap(\.self).joined(separator: " ")
    }

    /// Creates a report from its parts.
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
            case (.noFiles, _): "the account's url is not a folder of files"
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

/// The state of an account.
public struct AccountStatus: Equatable, Codable, Sendable {
    /// The account's name in the config.
    public var account: String
    /// The state of the connection now.
    public var connection = ConnectionState.offline
    /// The reason why the server cannot be reached or cannot serve requests, as the host met it last; nil if it can, or
    /// if nobody has said.
    public var connectionProblem: String?
    /// Whether a host runs for the account.
    public var isRunning = false
    /// The state of the connection when a host last ran; nil if no host has sent the server a request yet.
    public var lastConnection: ConnectionState?
    /// The time when the item list was last known to be complete; nil if it never was.
    public var lastScan: Timestamp?
    /// The number of the course of anchors, see ``ChangePosition``; nil if nothing was ever stored.
    public var epoch: Int64?
    /// The number of the last transaction that changed items.
    public var anchor: Int64 = 0
    /// The number of files and folders on the server, without the root.
    public var items: Int64 = 0
    /// The number of files with a copy of a version of the server's, whether the copy was changed since or not.
    public var localCopies: Int64 = 0
    /// The total size of these copies, in bytes.
    public var localBytes: Int64 = 0
    /// The number of files and folders that were changed or created locally.
    public var locallyChanged: Int64 = 0
    /// The number of sync records in each state.
    public var records: [SyncRecord.State: Int] = [:]
    /// The number of issues.
    public var issues = 0
    /// The policies, with the number and size of the items that each covers.
    public var policies: [PolicyReport] = []
    /// The event loops.
    public var loops: [LoopState] = []
    /// The time of the running host's next poll; nil if no host runs.
    public var nextPoll: Timestamp?
    /// The reason why the account does not go on although its host runs; nil if the account goes on or no host runs.
    public var trouble: AccountTrouble?
    /// The account's pause; nil if it is not paused.
    public var pause: AccountPause?
    /// The last failed authentication, if the server rejects the account's credentials.
    public var refusal: AuthenticationFailure?
    /// The kind of server that was found; nil if none was found yet.
    public var server: ServerReport?
    /// Whether a folder's ETag stayed the same although something in the folder had changed. Until the ETags are
    /// believed again, every scan lists every folder.
    public var etagsWereWrong = false
    /// The number of days after which the ETags are believed again if they tell of every change until then; nil if they
    /// are believed, or never will be again.
    public var etagDaysLeft: Int?
    /// The notes of the running host, or of the last host, about the plugins.
    public var plugins = PluginNotes()

    /// Creates the state of an account of which nothing is known yet.
    public init(account: String) { self.account = account }
}
