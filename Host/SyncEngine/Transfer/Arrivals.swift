import Model
import Storage

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
    /// When they are put in place even if few have come.
    private(set) var landsAt: Timestamp?

    /// So many share a sync and a commit.
    static let batch = 512
    /// More bytes than this do not wait for others: writing them takes longer than the sync's own cost.
    static let batchBytes: Int64 = 64 << 20
    /// The longest that a complete file waits for others.
    static let longestWait = Duration.seconds(1)

    var isEmpty: Bool { files.isEmpty }
    /// Whether downloads should pause until some have landed.
    var areTooMany: Bool { files.count >= 2 * Self.batch }

    mutating func append(_ file: Fetched, now: Timestamp) {
        files.append(file)
        bytes += file.file.size
        if landsAt == nil { landsAt = now + Self.longestWait }
    }

    /// - Parameter isLast: Whether no other file is on its way.
    func areDue(isLast: Bool, now: Timestamp) -> Bool {
        guard !files.isEmpty else { return false }
        return isLast || files.count >= Self.batch || bytes >= Self.batchBytes || landsAt.map { $0 <= now } ?? false
    }

    mutating func takeAll() -> [Fetched] {
        defer { self = Arrivals() }
        return files
    }
}
