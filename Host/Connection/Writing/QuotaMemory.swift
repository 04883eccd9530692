import Model

/// What folders have told of the room for uploads, for a minute, so that many uploads into one folder cost one question.
/// A value without I/O.
///
/// Folders of one account may have different quotas, such as a received share. An answer "none" therefore holds for its
/// folder alone, and no longer than any other.
struct QuotaMemory: Sendable {
    private struct Answer {
        /// The bytes that may be stored; nil if the folder told no quota.
        var available: Int64?
        var at: Duration
    }

    private var answers: [ItemPath: Answer] = [:]
    /// The folders in which the server had no room for an upload.
    private var full: Set<ItemPath> = []

    /// The time for which an answer is used.
    static let longestUse = Duration.seconds(60)

    /// Whether the server has refused an upload into a folder for lack of room, and has taken none there since.
    func isFull(_ folder: ItemPath) -> Bool { full.contains(folder) }

    /// Tells whether a folder has room for bytes as far as is remembered, so that it need not be asked.
    /// - Parameter now: The time of a monotonic clock.
    func hasRoom(for bytes: Int64, in folder: ItemPath, at now: Duration) -> Bool {
        guard let answer = answers[folder], now - answer.at < Self.longestUse else { return false }
        return answer.available.map { bytes <= $0 } ?? true
    }

    /// Notes what a folder has told.
    /// - Parameter available: The bytes that may be stored; nil if the folder told no quota.
    mutating func told(_ available: Int64?, by folder: ItemPath, at now: Duration) {
        answers = answers.filter { now - $0.value.at < Self.longestUse }
        answers[folder] = Answer(available: available, at: now)
    }

    /// Notes that the server has taken an upload. Any folder may share the quota.
    mutating func took(_ bytes: Int64, in folder: ItemPath) {
        full.remove(folder)
        answers = answers.mapValues { Answer(available: $0.available?.subtracting(bytes), at: $0.at) }
    }

    /// Notes that the server had no room for an upload. What any folder told is forgotten.
    mutating func lacksRoom(in folder: ItemPath) {
        answers = [:]
        full.insert(folder)
    }
}
