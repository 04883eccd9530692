import Database
import LocalTree
import Model

/// A download that is complete in `incoming/`.
struct Fetched: Sendable {
    var job: Job
    var file: CompletedFile
    /// The version that its bytes are.
    var version: ETag

    var landing: Landing {
        Landing(etag: version, digest: file.digest, size: file.size, modified: file.mark.modified)
    }
}

/// A download that is in place, and whose item does not say so yet.
struct Placed: Sendable {
    var job: Job
    /// Where it was put.
    var path: ItemPath
    var landing: Landing
    var mark: FileMark
}

/// Complete downloads that gather to be put in place together: one sync of the file system and one commit serve them all.
struct Arrivals {
    private(set) var files: [Fetched] = []
    private var bytes: Int64 = 0
    /// When the first came.
    private var since: Timestamp?

    /// So many share a sync and a commit.
    static let batch = 512
    /// More bytes than this do not wait for others: writing them takes longer than the sync's own cost.
    static let batchBytes: Int64 = 64 << 20
    /// The longest that a complete file waits for others that are on their way.
    static let longestWait = Duration.seconds(1)
    /// The longest that it waits where none is, but more are expected.
    static let shortWait = Duration.milliseconds(100)

    var isEmpty: Bool { files.isEmpty }
    /// Whether downloads should pause until some have landed.
    var areTooMany: Bool { files.count >= 2 * Self.batch }

    mutating func append(_ file: Fetched, now: Timestamp) {
        files.append(file)
        bytes += file.file.size
        if since == nil { since = now }
    }

    /// When they are put in place even if few have come; nil if there are none.
    func landsAt(landingDelay: Duration) -> Timestamp? { since.map { $0 + landingDelay } }

    /// - Parameter landingDelay: How long files wait for others.
    func areDue(landingDelay: Duration, now: Timestamp) -> Bool {
        guard let landsAt = landsAt(landingDelay: landingDelay) else { return false }
        return landingDelay == .zero || landsAt <= now || files.count >= Self.batch || bytes >= Self.batchBytes
    }

    mutating func takeAll() -> [Fetched] {
        defer { self = Arrivals() }
        return files
    }
}

/// Downloads that are in place, and whose items do not say so yet.
struct InPlace: Sendable {
    var files: [Placed] = []
    /// When the items say so even if no other batch comes.
    private(set) var completesAt: Timestamp?
    /// From when on the files' looks are proof of their content.
    private(set) var provesAt: Timestamp?

    /// How long a file that is in place waits for others before its item says so.
    static let longestCompletion = Duration.seconds(1)
    /// So long a file must have been in place for its looks to be proof: completed sooner, it would be read at the next start.
    static let provingDelay = FileMark.clockStep * 2

    func isProof(now: Timestamp) -> Bool { provesAt.map { $0 <= now } ?? true }
    func isOverdue(now: Timestamp) -> Bool { completesAt.map { $0 <= now } ?? false }

    /// - Parameter completed: Whether the items of those that were in place before say so now.
    mutating func add(_ placed: [Placed], afterCompleting completed: Bool, now: Timestamp) {
        if completed { (files, completesAt) = ([], nil) }
        files += placed
        if files.isEmpty {
            (completesAt, provesAt) = (nil, nil)
        } else {
            completesAt = completesAt ?? now + Self.longestCompletion
            provesAt = now + Self.provingDelay
        }
    }
}
