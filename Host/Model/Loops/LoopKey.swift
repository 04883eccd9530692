/// The kind of an event loop: `core`, `calendar`, `share`, or a kind of another plugin. A kind is unique among the
/// plugins of a host.
public struct LoopKind: CodableText {
    public let text: String
    /// Creates a kind from its name.
    public init(_ text: String) { self.text = text }

    /// The kind of the core loop.
    public static let core = LoopKind("core")
}

/// The key of an event loop in an account. A calendar and a share may have the same id, so the key contains the kind.
public struct LoopKey: Hashable, Codable, Comparable, Sendable, CustomStringConvertible {
    /// The kind of the loop.
    public var kind: LoopKind
    /// For a special loop: the key of the record that the loop is for, such as a calendar's path or a share's id. For a
    /// loop that exists once: its kind.
    public var id: LoopID

    /// Creates a key.
    public init(kind: LoopKind, id: LoopID) {
        self.kind = kind
        self.id = id
    }

    /// The key of the core loop.
    public static let core = LoopKey(kind: .core, id: LoopID(LoopKind.core.text))

    /// The key as the command line and the logs write it where the id alone is ambiguous: `calendar:/ada/work/`.
    public var description: String { "\(kind):\(id)" }

    public static func < (a: Self, b: Self) -> Bool { (a.kind, a.id) < (b.kind, b.id) }
}

/// The id of an event loop, unique among the loops of its kind.
public struct LoopID: CodableText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }
}

/// The state that an event loop has reached. It is opaque to the host and compared byte by byte.
public struct EventID: CodableText {
    /// The greatest length in bytes.
    public static let longest = 64 << 10

    public let text: String
    /// Creates an event id from its text.
    public init(_ text: String) { self.text = text }
}
