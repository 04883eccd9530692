/// What `larder.usage/1` tells, in bytes and files.
public struct PluginUsage: Hashable, Sendable {
    public var localBytes: Int64
    public var localCopies: Int64
    public var freeBytes: Int64
    public var totalBytes: Int64

    public init(localBytes: Int64, localCopies: Int64, freeBytes: Int64, totalBytes: Int64) {
        self.localBytes = localBytes
        self.localCopies = localCopies
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
    }
}
