/// A snapshot of a file to upload, as it is found in `outgoing/`.
///
/// An extended attribute names the path to which the file was to be uploaded. So the file is not lost with the journal,
/// which names the snapshot. A file system without extended attributes keeps the file without its path.
public struct FoundSnapshot: Hashable, Sendable {
    /// The snapshot's name in `outgoing/`.
    public var name: String
    /// The path to which it was to be uploaded; nil if that is not known.
    public var path: ItemPath?
    /// The size in bytes.
    public var size: Int64
    /// The time of the snapshot.
    public var taken: Timestamp

    /// Creates the facts about a snapshot.
    public init(name: String, path: ItemPath?, size: Int64, taken: Timestamp) {
        (self.name, self.path, self.size, self.taken) = (name, path, size, taken)
    }
}
