/// A statement that an item's local copy is needed here: how it is needed, and for how long.
///
/// A copy with a valid claim is neither removed nor purged, whoever requests the removal. A claim belongs to the item
/// and moves with it.
public struct Claim: Hashable, Codable, Sendable {
    /// The need that a claim expresses, ordered from the least to the most. The raw values are stored.
    public enum Kind: Int, Codable, Sendable, CaseIterable, Comparable {
        /// The need for some version to be here.
        case delete = 0
        /// The need for some version to be here, the newest if possible.
        case read = 1
        /// The need for this version to be here and to stay as it is.
        case write = 2

        /// The name on the command line.
        public var name: String {
            switch self {
            case .delete: "delete"
            case .read: "read"
            case .write: "write"
            }
        }

        /// Creates the kind with a name, or returns nil if no kind has the name.
        public init?(name: String) {
            guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = kind
        }

        /// A kind is encoded as its name.
        public init(from decoder: any Decoder) throws {
            self = try decoder.singleValueContainer().decode(named: Self.init(name:))
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(name)
        }

        public static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
    }

    /// The claim's id.
    public var id: ClaimID
    /// The item whose copy is claimed.
    public var item: LocalID
    /// The kind of need.
    public var kind: Kind
    /// The time for which the claim is valid.
    public var validity: ClaimValidity

    /// Creates a claim, by default with a random id.
    public init(id: ClaimID = .random(), item: LocalID, kind: Kind, validity: ClaimValidity) {
        self.id = id
        self.item = item
        self.kind = kind
        self.validity = validity
    }

    /// Tells whether the claim is valid now.
    public func isValid(in world: ClaimWorld) -> Bool { validity.standing(in: world).isValid }

    /// Tells whether the claim can never be valid again.
    public func isOver(in world: ClaimWorld) -> Bool { validity.standing(in: world) == .over }
}

/// The kinds of valid claims that an item has. The raw value is that of `LARDER_CLAIM_…`.
public struct ClaimKinds: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A claim for reading.
    public static let read = ClaimKinds(rawValue: 1)
    /// A claim for writing.
    public static let write = ClaimKinds(rawValue: 2)
    /// A claim against deletion.
    public static let delete = ClaimKinds(rawValue: 4)

    /// Creates a set of one kind.
    public init(_ kind: Claim.Kind) {
        switch kind {
        case .read: self = .read
        case .write: self = .write
        case .delete: self = .delete
        }
    }
}
