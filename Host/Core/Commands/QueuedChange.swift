public import Model

/// A change of the server that is queued, as it is told to a person.
public struct QueuedChange: Hashable, Encodable, Sendable {
    /// The kind of change.
    public var action: String
    /// The path of what is to be changed or made.
    public var path: ItemPath
    /// The target of a move, or the source of a copy.
    public var otherPath: ItemPath?

    init(_ record: SyncRecord) {
        (action, path, otherPath) = (record.action.kind.rawValue, record.path, record.action.otherPath)
    }
}
