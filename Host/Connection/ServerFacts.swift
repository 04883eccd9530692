public import Model

/// The facts that `Connection.connect()` finds about an account's server.
public struct ServerFacts: Sendable, Hashable {
    /// The address of the collection that is the account's root, with a closing slash and without credentials.
    public var root: String
    /// Whether the server has a status document of the ownCloud family (ownCloud, OpenCloud, Nextcloud).
    public var hasStatusDocument: Bool { evidence == .statusDocument }
    /// The sign by which the server counts as one of the ownCloud family.
    public var evidence: KnownServer.Evidence
    /// The product's name, from the status document or the capabilities.
    public var product: String?
    /// The product's version, from the status document or the capabilities.
    public var version: String?
    /// Whether items have `oc:id`. With it, moves can be told from deletions.
    public var hasFileIDs: Bool
    /// Whether the server keeps files. The root of a calendar server is a principal or a calendar, and is listed as
    /// empty.
    public var hasFiles: Bool
    /// The root as the server listed it.
    public var rootItem: ListedItem
    /// The server's clock when it answered, to the second.
    public var date: Timestamp?

    /// Whether a folder's ETag changes with every change below the folder. It does on servers of the ownCloud family,
    /// which have both `evidence` and `oc:id`.
    public var isOwnCloudFamily: Bool { evidence != .none && hasFileIDs }

    /// Creates the facts about a server.
    public init(
        root: String, evidence: KnownServer.Evidence = .none, product: String? = nil, version: String? = nil,
        hasFileIDs: Bool, hasFiles: Bool, rootItem: ListedItem, date: Timestamp? = nil
    ) {
        self.root = root
        self.evidence = evidence
        self.product = product
        self.version = version
        self.hasFileIDs = hasFileIDs
        self.hasFiles = hasFiles
        self.rootItem = rootItem
        self.date = date
    }
}
