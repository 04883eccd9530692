import Model

/// The room that downloads may take on the file system of the copies (C13). A value without I/O.
///
/// A download takes its room when it begins, and gives back what it still misses when it ends. What it has received by
/// then is no longer free.
struct DownloadRoom: Sendable {
    /// A download, by its account and its record, or a batch of them, by its first record. Accounts may share a file
    /// system.
    struct Owner: Hashable {
        var account: String
        var record: SyncRecordID
        var isBatch = false
    }

    /// The bytes that stay free; nil stands for the default of the file system.
    private let keepFree: Int64?
    /// The bytes that stay free on the file system that was measured.
    private(set) var kept: Int64 = 0
    /// The bytes that downloads may still take; nil if there is no limit, since the system does not tell what is free.
    private(set) var left: Int64?
    private var measuredAt: Duration?
    /// The bytes that each download under way still misses.
    private var missing: [Owner: Int64] = [:]

    /// The time for which a measurement is used, for at most so many are made however many files are downloaded.
    private static let longestUse = Duration.milliseconds(100)

    /// Creates a room that was not measured yet.
    init(keepFree: Int64?) { self.keepFree = keepFree }

    /// Returns the bytes that stay free unless the config says otherwise: 500 MB or 5 %, whichever is less.
    static func defaultKept(of total: Int64) -> Int64 { min(500_000_000, total / 20) }

    /// Whether the room must be measured before a download begins.
    /// - Parameter now: The time of a monotonic clock.
    func isOutdated(at now: Duration) -> Bool { measuredAt.map { now - $0 >= Self.longestUse } ?? true }

    /// Takes a measurement. No download may have received bytes in between that were not noted.
    /// - Parameter space: The file system's size; nil if the system does not tell it.
    mutating func measured(_ space: FileSystemSpace?, at now: Duration) {
        measuredAt = now
        guard let space else {
            left = nil
            return
        }
        kept = keepFree ?? Self.defaultKept(of: space.total)
        left = (space.free - kept).adding(-missing.values.reduce(0) { $0.adding($1) })
    }

    /// Tells whether a download that misses so many bytes may begin.
    func fits(_ bytes: Int64) -> Bool { bytes <= 0 || left.map { bytes <= $0 } ?? true }

    /// Whether the downloads that have begun miss more than there is, since others have taken it meanwhile.
    var isOverdrawn: Bool { left.map { $0 < 0 } ?? false }

    /// Whether a download is under way.
    func holds(_ owner: Owner) -> Bool { missing[owner] != nil }

    /// Takes the room for a download that misses so many bytes.
    mutating func begin(_ owner: Owner, missing bytes: Int64) {
        missing[owner] = max(0, bytes)
        left = left.map { $0.adding(-max(0, bytes)) }
    }

    /// Notes bytes that a download has written, or, if negative, thrown away.
    mutating func received(_ bytes: Int64, by owner: Owner) {
        guard let before = missing[owner] else { return }
        missing[owner] = max(0, before.adding(-bytes))
    }

    /// Gives back what a download that has ended still misses.
    mutating func end(_ owner: Owner) {
        guard let rest = missing.removeValue(forKey: owner) else { return }
        left = left.map { $0.adding(rest) }
    }
}

/// The downloads that wait for room.
struct RoomLack: Hashable, Sendable {
    /// The number of downloads.
    private(set) var count = 0
    /// The size of their files in bytes.
    private(set) var bytes: Int64 = 0
    /// The bytes that the download misses which lacks the least.
    private(set) var smallest = Int64.max

    /// Adds a download.
    mutating func add(size: Int64, missing: Int64) {
        count += 1
        bytes = bytes.adding(size)
        smallest = min(smallest, missing)
    }
}
