/// Which kind of loop it is: `core`, `calendar`, `share`, or a stranger's. Unique among the plugins of a host.
public struct LoopKind: ByteText {
    public let text: String
    public init(_ text: String) { self.text = text }

    public static let core = LoopKind("core")
}

/// Which event loop of an account: there may be a calendar and a share with the same id.
public struct LoopKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var kind: LoopKind
    /// Of a special loop: the key of the record that it is for, such as a calendar's path or a share's id. Of a loop that is there
    /// once: its kind.
    public var id: LoopID

    public init(kind: LoopKind, id: LoopID) {
        self.kind = kind
        self.id = id
    }

    public static let core = LoopKey(kind: .core, id: LoopID(LoopKind.core.text))

    /// As the command line and the logs name it where the id alone is not enough: `calendar:/ada/work/`.
    public var description: String { "\(kind):\(id)" }

    public static func < (a: Self, b: Self) -> Bool { (a.kind, a.id) < (b.kind, b.id) }
}

/// The id of an event loop among those of its kind.
public struct LoopID: ByteText {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// How far an event loop has come: opaque to the host, compared byte by byte.
public struct EventID: ByteText {
    /// In bytes.
    public static let longest = 64 << 10

    public let text: String
    public init(_ text: String) { self.text = text }
}
