/// A rule of one kind for the items that a condition matches.
public struct ItemPolicy: Hashable, Sendable {
    /// The row; 0 before it is stored.
    public var databaseID: PolicyRowID
    public var id: PolicyID
    public var kind: PolicyKind
    /// A stable name; one that begins with `_sys.` marks an internal policy, which listings leave out unless asked.
    public var identifier: String?
    /// For people.
    public var description: String?
    /// The text of the condition that the policy's items meet.
    public var condition: String
    /// For the processor's own use: where the policy's target is.
    public var path: ItemPath?
    /// For the processor's own use: the target's id.
    public var localID: LocalID?
    /// The policy goes when a finished scan leaves no item that meets this condition (the original's `noItems`).
    public var removeWhenNone: String?
    /// For the processor's own use.
    public var data: [UInt8]?
    /// Rises with every update, so that a change to an outdated policy is refused.
    public var revision: Int64

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

    public var isInternal: Bool { identifier?.utf8.starts(with: "_sys.".utf8) ?? false }
}
