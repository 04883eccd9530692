/// What somebody says of a local copy: that it is needed here, how, and for how long.
///
/// A copy with a valid claim is neither removed nor purged, whoever asks for it. A claim is the item's: it goes where the item goes.
public struct Claim: Hashable, Sendable {
    /// What is needed, from the least to the most. The raw values are stored.
    public enum Kind: Int, Sendable, CaseIterable, Comparable {
        /// That some version is here.
        case delete = 0
        /// That some version is here, the newest if possible.
        case read = 1
        /// That this version is here and stays as it is.
        case write = 2

        /// As it is written on the command line.
        public var name: String {
            switch self {
            case .delete: "delete"
            case .read: "read"
            case .write: "write"
            }
        }

        public init?(name: String) {
            guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = kind
        }

        public static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
    }

    public var id: ClaimID
    /// Whose copy is claimed.
    public var item: LocalID
    public var kind: Kind
    public var validity: ClaimValidity

    public init(id: ClaimID = .random(), item: LocalID, kind: Kind, validity: ClaimValidity) {
        self.id = id
        self.item = item
        self.kind = kind
        self.validity = validity
    }

    /// Tells whether it holds the copy now.
    public func isValid(in world: ClaimWorld) -> Bool { validity.standing(in: world).isValid }

    /// Whether it can never be valid again.
    public func isOver(in world: ClaimWorld) -> Bool { validity.standing(in: world) == .over }
}

/// Which kinds of valid claims an item has. The raw value is that of `LARDER_CLAIM_…`.
public struct ClaimKinds: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let read = ClaimKinds(rawValue: 1)
    public static let write = ClaimKinds(rawValue: 2)
    public static let delete = ClaimKinds(rawValue: 4)

    public init(_ kind: Claim.Kind) {
        switch kind {
        case .read: self = .read
        case .write: self = .write
        case .delete: self = .delete
        }
    }
}
