/// How far the downloads are: those done since the engine was made, and those to come.
public struct SyncProgress: Hashable, Sendable {
    /// Files that are in place.
    public var filesDone = 0
    /// Those, and all that are still to come.
    public var filesTotal = 0
    /// Bytes that came from the server, those of files under way too.
    public var bytesDone: Int64 = 0
    /// By the server's word.
    public var bytesTotal: Int64 = 0

    public init() {}
}
