import Database
import LocalTree
import Model

/// A download that is complete in `incoming/`.
struct Fetched: Sendable {
    var job: Job
    var file: CompletedFile
    /// The version of the downloaded bytes.
    var version: ETag

    var landing: Landing {
        Landing(etag: version, digest: file.digest, size: file.size, modified: file.mark.modified)
    }
}

/// A download that is in place, but whose item does not say so yet.
struct Placed: Sendable {
    var job: Job
    /// The path at which the file was put.
    var path: ItemPath
    var landing: Landing
    var mark: FileMark
}

/// Complete downloads that wait to be put in place together. One sync of the file system and one commit serve all of
/// them.
struct Arrivals {
    private(set) var files: [Fetched] = []
    private(set) var batched: [BatchArrival] = []
    private var bytes: Int64 = 0
    /// The time when the first of the files came.
    private var since: Timestamp?

    /// The number of files that share a sync and a commit.
    static let batch = 512
    /// With more bytes than this, the files do not wait for others: writing the bytes takes longer than the sync
    /// itself.
    static let batchBytes: Int64 = 64 << 20
    /// The longest time that a complete file waits for downloads that are under way.
    static let longestWait = Duration.seconds(1)
    /// The longest time that a complete file waits if no download is under way, but more are expected.
    static let shortWait = Duration.milliseconds(100)

    var count: Int { files.count + batched.count }
    var isEmpty: Bool { count == 0 }
    /// Whether downloads should pause until some have landed.
    var areTooMany: Bool { count >= 2 * Self.batch }

    mutating func append(_ file: Fetched, now: Timestamp) {
        files.append(file)
        bytes += file.file.size
        if since == nil { since = now }
    }

    mutating func append(_ arrival: BatchArrival, now: Timestamp) {
        batched.append(arrival)
        bytes += arrival.result.mark.size
        if since == nil { since = now }
    }

    /// Returns the time when the files are put in place even if few have come, or nil if there are no files.
    func landsAt(landingDelay: Duration) -> Timestamp? { since.map { $0 + landingDelay } }

    /// Tells whether the files are to be put in place now.
    /// - Parameter landingDelay: The time that files wait for others.
    func areDue(landingDelay: Duration, now: Timestamp) -> Bool {
        guard let landsAt = landsAt(landingDelay: landingDelay) else { return false }
        return landingDelay == .zero || landsAt <= now || count >= Self.batch || bytes >= Self.batchBytes
    }

    mutating func takeAll() -> Arrivals {
        defer { self = Arrivals() }
        return self
    }
}

/// Downloads that are in place, but whose items do not say so yet.
struct InPlace: Sendable {
    var files: [Placed] = []
    private(set) var batched: [BatchPlaced] = []
    /// The time when the items are completed even if no other batch comes.
    private(set) var completesAt: Timestamp?
    /// The time from which on the files' marks prove their content.
    private(set) var provesAt: Timestamp?

    /// The longest time that a file in place waits for others before its item is completed.
    static let longestCompletion = Duration.seconds(1)
    /// The time for which a file must have been in place before its mark proves its content. The next start would have
    /// to read a file that was completed sooner.
    static let provingDelay = FileMark.clockStep * 2

    init(files: [Placed] = []) { self.files = files }

    var count: Int { files.count + batched.count }
    var isEmpty: Bool { count == 0 }

    func isProof(now: Timestamp) -> Bool { provesAt.map { $0 <= now } ?? true }
    func isOverdue(now: Timestamp) -> Bool { completesAt.map { $0 <= now } ?? false }

    /// Adds files that were just put in place.
    /// - Parameter completed: Whether the items of the files that were in place before are completed now.
    mutating func add(
        _ placed: [Placed], _ batched: [BatchPlaced], afterCompleting completed: Bool, now: Timestamp
    ) {
        if completed { (files, self.batched, completesAt) = ([], [], nil) }
        files += placed
        self.batched += batched
        if isEmpty {
            (completesAt, provesAt) = (nil, nil)
        } else {
            completesAt = completesAt ?? now + Self.longestCompletion
            provesAt = now + Self.provingDelay
        }
    }
}
