public import Model

/// A request that changes something on the server, in the form in which it is told to a person.
public enum WriteRequest: Hashable, Sendable {
    case makeFolder(ItemPath)
    case delete(ItemPath)
    case move(ItemPath, to: ItemPath)
    case copy(ItemPath, to: ItemPath)
    case setFavorite(ItemPath)
    case setModificationTime(ItemPath)
    case put(ItemPath)

    /// The item that the request is about.
    public var path: ItemPath {
        switch self {
        case .makeFolder(let path), .delete(let path), .move(let path, _), .copy(let path, _), .setFavorite(let path),
            .setModificationTime(let path), .put(let path):
            path
        }
    }

    /// The place at which the request puts something; nil if it puts nothing anywhere.
    public var target: ItemPath? {
        switch self {
        case .makeFolder(let path), .put(let path): path
        case .move(_, let target), .copy(_, let target): target
        case .delete, .setFavorite, .setModificationTime: nil
        }
    }

    /// The name of the property that the request sets, as `{namespace}name`; nil if it sets none.
    var property: String? {
        switch self {
        case .setFavorite: "{http://owncloud.org/ns}favorite"
        case .setModificationTime: "{DAV:}lastmodified"
        case .makeFolder, .delete, .move, .copy, .put: nil
        }
    }

    /// The request in words, as in "while uploading /a".
    public var doing: String {
        switch self {
        case .makeFolder(let path): "creating the folder \(path)"
        case .delete(let path): "deleting \(path)"
        case .move(let path, let target): "moving \(path) to \(target)"
        case .copy(let path, let target): "copying \(path) to \(target)"
        case .setFavorite(let path): "marking \(path) as a favorite"
        case .setModificationTime(let path): "setting the modification time of \(path)"
        case .put(let path): "uploading \(path)"
        }
    }
}
