public import Model

/// The records that are left after the engine has done what it could do at once.
public struct DrainOutcome: Sendable {
    /// A record that did not go on.
    public struct Left: Hashable, Sendable {
        /// The record.
        public var record: SyncRecordID
        /// The path of the record's item.
        public var path: ItemPath
        /// The reason, in one sentence without a full stop.
        public var why: String
        /// The kind of failure, which selects the exit code.
        public var failure: Failure.Kind
        /// The issue for which the record waits, if any.
        public var issue: IssueID?
        /// Whether the record waits for room, which one issue tells of all such records.
        public var waitsForRoom: Bool

        /// Creates a description of a record that is left.
        public init(
            record: SyncRecordID, path: ItemPath, why: String, failure: Failure.Kind, issue: IssueID? = nil,
            waitsForRoom: Bool = false
        ) {
            self.record = record
            self.path = path
            self.why = why
            self.failure = failure
            self.issue = issue
            self.waitsForRoom = waitsForRoom
        }
    }

    /// The number of records that are described.
    static let mostNamed = 100

    /// The first hundred records that are left, in the journal's order.
    public var left: [Left] = []
    /// The number of all records that are left.
    public var leftCount = 0
    /// The failure that holds up everything: the server cannot be reached or rejects the password, or the disk is full.
    public var failure: Failure?

    /// Whether the server is not connected. Actions that need the server were not tried then.
    public var isOffline = false

    /// Creates the outcome of a run that left nothing.
    public init() {}

    /// Whether nothing is left and nothing has failed.
    public var isDone: Bool { leftCount == 0 && failure == nil }
}
