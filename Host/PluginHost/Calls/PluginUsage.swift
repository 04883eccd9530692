/// The figures that `larder.usage/1` returns, in bytes and files.
public struct PluginUsage: Hashable, Sendable {
    /// The bytes of the local copies, changed copies included. Copies whose removal was requested and waits for nothing
    /// count as removed.
    public var localBytes: Int64
    /// The number of these local copies.
    public var localCopies: Int64
    /// The bytes of the file system that the host's user may still fill, with those of copies that count as removed.
    public var freeBytes: Int64
    /// The size of the file system in bytes.
    public var totalBytes: Int64

    /// Creates the figures.
    public init(localBytes: Int64, localCopies: Int64, freeBytes: Int64, totalBytes: Int64) {
        self.localBytes = localBytes
        self.localCopies = localCopies
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
    }
}
