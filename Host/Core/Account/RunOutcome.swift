public import Model

/// The outcome of a run of the host.
public struct RunOutcome: Codable, Sendable {
    /// The errors, each once.
    public var failures: [Failure] = []
    /// A piece of work that was left undone.
    public struct Left: Hashable, Codable, Sendable {
        /// The path of the item.
        public var path: ItemPath
        /// The reason.
        public var why: String
    }

    /// The first hundred pieces of work that were left.
    public var left: [Left] = []
    /// The number of all pieces of work that were left.
    public var leftCount = 0
    /// The issues that wait for a person.
    public var issues: [Issue] = []
    /// The number of downloads that were put in place.
    public var files = 0
    /// The size of these downloads, in bytes.
    public var bytes: Int64 = 0
    /// The number of files that were uploaded.
    public var uploads = 0
    /// The size of these files, in bytes.
    public var uploadedBytes: Int64 = 0
    /// The number of other changes that the server has made for this account.
    public var changes = 0
    /// The number of items that the server had moved.
    public var moves = 0
    /// The number of files whose local copies were removed: by policies, for a person, or because the files are gone
    /// from the server.
    public var removed = 0
    /// The number of calendar objects that were added, changed or removed.
    public var calendarObjects = 0

    /// Creates the outcome of a run that has done nothing yet.
    public init() {}

    /// The kind of failure that determines the exit code; nil if everything was done.
    public var worst: Failure.Kind? { Failure.Kind.worst(of: failures.map(\.kind) + issues.map(\.failure.ofOneItem)) }

    mutating func add(_ failure: Failure) {
        guard !failures.contains(where: { $0.kind == failure.kind && $0.message.hasSameBytes(as: failure.message) })
        else {
            return
        }
        failures.append(failure)
    }
}
