public import Model

/// What was found out about an account's server.
public struct ServerFacts: Sendable, Hashable {
    /// The address of the collection that is the account's root, with a closing slash and without credentials.
    public var root: String
    /// Whether the server has a status document of the ownCloud family (ownCloud, OpenCloud, Nextcloud).
    public var hasStatusDocument: Bool { evidence == .statusDocument }
    /// By what it is taken for one of the ownCloud family.
    public var evidence: KnownServer.Evidence
    /// The product's name and version as the status document tells them.
    public var product: String?
    public var version: String?
    /// Whether items have `oc:id`, so that moves can be told from deletions.
    public var hasFileIDs: Bool
    /// Whether there are files: the root of a calendar server is a principal or a calendar, and is listed as empty.
    public var hasFiles: Bool
    /// The root as it was listed.
    public var rootItem: ListedItem
    /// The server's clock, to the second, when it was asked.
    public var date: Timestamp?

    /// Whether a folder's ETag tells of changes anywhere below it: of the ownCloud family by both signs.
    public var isOwnCloudFamily: Bool { evidence != .none && hasFileIDs }

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
