/// A request of a person to change something on the server.
public enum ChangeRequest: Codable, Hashable, Sendable {
    /// The creation of a folder.
    case createFolder(ItemPath)
    /// The creation of a folder, unless the server has one at the path.
    case haveFolder(ItemPath)
    /// The deletion of an item, with everything below.
    case delete(ItemPath)
    /// The move of an item to a path at which there is nothing.
    case move(ItemPath, to: ItemPath)
    /// The copy of an item to a path at which there is nothing.
    case copy(ItemPath, to: ItemPath)
    /// The change of an item's mark as a favorite.
    case setFavorite(ItemPath, Bool)
    /// The change of a file's modification time. Servers keep whole seconds.
    case setModificationTime(ItemPath, Timestamp)
    /// The upload of a file, of which a snapshot was taken. With `replaces`, it may become a new version of an existing
    /// file.
    case put(TakenSnapshot, ItemPath, replaces: Bool)
}
