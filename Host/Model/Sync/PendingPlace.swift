/// A place on the server that a record in the journal is about to change. Until the record is done, the server's listings
/// show the place as it was, and the item list shows it as it will be.
public struct PendingPlace: Hashable, Sendable {
    /// The change that the place waits for. The raw values are stored in the journal.
    public enum Change: Int, Hashable, Sendable {
        /// What is at the path, and below it, is about to go. A listing that still has it says nothing new.
        case leaves = 0
        /// Something is about to come to the path. A listing that does not have it yet says nothing new.
        case arrives = 1
        /// The favorite mark of the item at the path is about to change.
        case isMarked = 2
        /// The modification time of the file at the path is about to change.
        case isDated = 3

        /// Whether the item at the path stays what and where it is, and only a property of it is about to change.
        public var isOfProperty: Bool {
            switch self {
            case .leaves, .arrives: false
            case .isMarked, .isDated: true
            }
        }
    }

    /// The path.
    public var path: ItemPath
    /// The change.
    public var change: Change

    /// Creates a place.
    public init(_ path: ItemPath, _ change: Change) { (self.path, self.change) = (path, change) }
}

extension SyncRecord {
    /// The places on the server that the record is about to change. A new version of a file is not among them: the
    /// listing of the version before it is no harm, and that of another version is news.
    public var places: [PendingPlace] {
        switch action {
        case .download, .removeLocalCopy, .purge: []
        case .createFolder, .copy: [PendingPlace(path, .arrives)]
        case .delete: [PendingPlace(path, .leaves)]
        case .move(let target): [PendingPlace(path, .leaves), PendingPlace(target, .arrives)]
        case .setFavorite: [PendingPlace(path, .isMarked)]
        case .setModificationTime: [PendingPlace(path, .isDated)]
        case .upload(let upload): upload.isNew ? [PendingPlace(path, .arrives)] : []
        }
    }

    /// The places of which a listing tells nothing new if it began before the server carried out the record. A new
    /// version, and a new modification time, come with another ETag.
    public var changedPlaces: [PendingPlace] {
        switch action {
        case .upload, .setModificationTime: [PendingPlace(path, .arrives)]
        case .download, .removeLocalCopy, .purge, .createFolder, .delete, .move, .copy, .setFavorite: places
        }
    }
}
