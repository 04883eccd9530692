/// A rule of one kind for the items that a condition matches.
public struct ItemPolicy: Hashable, Codable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case id, kind
        case condition = "where"
        case identifier, description, path, localID, removeWhenNone
        case databaseID = "_databaseID"
        case data = "_data"
        case revision = "_revision"
    }

    /// The id of the policy's row, or 0 before the policy is stored.
    public var databaseID: PolicyRowID
    /// The policy's id.
    public var id: PolicyID
    /// The kind of the policy.
    public var kind: PolicyKind
    /// A stable name. A name that begins with `_sys.` marks an internal policy, which listings leave out unless
    /// requested.
    public var identifier: String?
    /// A description for people.
    public var description: String?
    /// The text of the condition that the policy's items meet.
    public var condition: String
    /// The path of the policy's target, for the processor's own use.
    public var path: ItemPath?
    /// The id of the policy's target, for the processor's own use.
    public var localID: LocalID?
    /// A condition for the policy's removal: the policy is removed when a finished scan leaves no item that meets this
    /// condition (the original's `noItems`).
    public var removeWhenNone: String?
    /// Data for the processor's own use.
    public var data: [UInt8]?
    /// A number that rises with every update, so that a change to an outdated policy is refused.
    public var revision: Int64

    /// Creates a policy, by default with a random id.
    public init(
        databaseID: PolicyRowID = .none, id: PolicyID = .random(), kind: PolicyKind, identifier: String? = nil,
        description: String? = nil, condition: String, path: ItemPath? = nil, localID: LocalID? = nil,
        removeWhenNone: String? = nil, data: [UInt8]? = nil, revision: Int64 = 1
    ) {
        self.databaseID = databaseID
        self.id = id
        self.kind = kind
        self.identifier = identifier
        self.description = description
        self.condition = condition
        self.path = path
        self.localID = localID
        self.removeWhenNone = removeWhenNone
        self.data = data
        self.revision = revision
    }

    /// Whether the policy is internal, by its identifier.
    public var isInternal: Bool { identifier?.utf8.starts(with: "_sys.".utf8) ?? false }
}
