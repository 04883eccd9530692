import Synchronization

/// A change of the server that a plugin requests.
public enum PluginChange: Hashable, Sendable {
    /// The creation of a folder, unless there is one at the path.
    case createFolder(ItemPath)
    /// The move of an item to a path at which there is nothing.
    case move(LocalID, to: ItemPath)
    /// The copy of an item to a path at which there is nothing.
    case copy(LocalID, to: ItemPath)
    /// The deletion of an item, with everything below.
    case delete(LocalID)
    /// The change of an item's mark as a favorite.
    case setFavorite(LocalID, Bool)
    /// The upload of a file, of which a snapshot was taken; nil in a preview. With `replaces`, it may become a new
    /// version of an existing file.
    case upload(HeldSnapshot?, to: ItemPath, replaces: Bool)

    /// The action's name in the journal.
    public var kind: SyncRecord.Action.Kind {
        switch self {
        case .createFolder: .createFolder
        case .move: .move
        case .copy: .copy
        case .delete: .delete
        case .setFavorite: .setFavorite
        case .upload: .upload
        }
    }

    /// The item that is changed; nil if the change makes an item.
    public var item: LocalID? {
        switch self {
        case .move(let item, _), .copy(let item, _), .delete(let item), .setFavorite(let item, _): item
        case .createFolder, .upload: nil
        }
    }

    /// The path at which something is made; nil if nothing is made.
    public var target: ItemPath? {
        switch self {
        case .createFolder(let path), .move(_, let path), .copy(_, let path), .upload(_, let path, _): path
        case .delete, .setFavorite: nil
        }
    }
}

/// A snapshot that was taken for a plugin's upload. It is removed when nobody holds it any more, unless a record needs
/// it.
public final class HeldSnapshot: Hashable, Sendable {
    /// The facts about the snapshot.
    public let taken: TakenSnapshot
    /// The lock that keeps the snapshot from being swept.
    private let lock: any Sendable
    private let discard: @Sendable (TakenSnapshot) -> Void
    private let isNeeded = Atomic<Bool>(false)

    /// Holds a snapshot.
    /// - Parameters:
    ///   - taken: The facts about the snapshot.
    ///   - lock: What keeps the snapshot from being swept while it is held.
    ///   - discard: Removes the snapshot. Called on any thread.
    public init(_ taken: TakenSnapshot, lock: any Sendable, discard: @escaping @Sendable (TakenSnapshot) -> Void) {
        (self.taken, self.lock, self.discard) = (taken, lock, discard)
    }

    deinit { if !isNeeded.load(ordering: .acquiring) { discard(taken) } }

    /// Notes that a record needs the snapshot. If the record's transaction fails, the next start removes the snapshot.
    public func handOver() { isNeeded.store(true, ordering: .releasing) }

    public static func == (one: HeldSnapshot, other: HeldSnapshot) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
