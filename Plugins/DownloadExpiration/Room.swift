import LarderSDK

/// The limits on the room that copies take.
struct Room {
    /// The greatest total size of the copies in bytes. Nil: no limit.
    let below: Int64?
    /// The bytes that stay free on the copies' file system. Nil: no limit.
    let free: Int64?

    var isLimited: Bool { below != nil || free != nil }

    /// Returns the number of bytes by which the copies exceed the limits; 0 if they do not.
    func excess(_ usage: Host.Usage.Figures) -> Int64 {
        let above = below.map { usage.localBytes.subtractingSaturated($0) } ?? 0
        let missing = free.map { $0.subtractingSaturated(usage.freeBytes) } ?? 0
        return max(0, above, missing)
    }
}

/// The removals that were requested in this run and in the one before, perhaps by another process. A copy that is
/// requested again with the same time of last use was skipped because somebody uses it: its removal gives no room.
struct Asked {
    /// The key of the stored text, which has a line with the id and the time of last use for each copy.
    static let key = "asked"
    /// The greatest number of remembered copies. That many copies in use at once would be a surprise.
    private static let most = 10_000

    private var before: Set<[UInt8]> = []
    private var now: Set<[UInt8]> = []
    /// The total size of the copies that this run requested and that may go.
    private(set) var bytes: Int64 = 0

    mutating func beginRun(after text: [UInt8]?) {
        before = Set((text ?? []).split(separator: UInt8(ascii: "\n")).map(Array.init))
        now = []
        bytes = 0
    }

    /// Notes a request.
    /// - Returns: Whether the copy may go, as far as is known.
    mutating func note(_ id: String, lastUsed: Int64, size: Int64) -> Bool {
        let line = Array("\(id) \(lastUsed)".utf8)
        guard !before.contains(line), !now.contains(line) else {
            now.insert(line)
            return false
        }
        if now.count < Self.most { now.insert(line) }
        bytes = bytes.addingSaturated(max(0, size))
        return true
    }

    /// The text to store. Nil if the stored text is up to date.
    var newText: [UInt8]? {
        now == before
            ? nil : Array(now.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: "\n")]))
    }
}
