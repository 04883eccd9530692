/// The progress of the transfers: those done since the engine was created, and those still to come.
public struct SyncProgress: Hashable, Sendable {
    /// The number of files that are in place.
    public var filesDone = 0
    /// The number of files that are in place or still to come.
    public var filesTotal = 0
    /// The number of bytes fetched, including those of files under way and those that an earlier try left in
    /// `incoming/`.
    public var bytesDone: Int64 = 0
    /// The number of bytes of all files in ``filesTotal``, as the server reports their sizes.
    public var bytesTotal: Int64 = 0

    /// The number of those files in ``filesDone`` that were uploaded.
    public var filesSent = 0
    /// The bytes of the files in ``filesSent``.
    public var bytesSent: Int64 = 0
    /// The number of other changes that the server has made.
    public var changes = 0

    /// Creates a progress without any files.
    public init() {}
}
