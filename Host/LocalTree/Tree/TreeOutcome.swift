public import Model

/// An entry or problem at the path of a file or folder, or on the way to the path.
public enum Obstruction: Hashable, Sendable {
    /// A symbolic link.
    case symbolicLink
    /// A folder where a file should be. This case also stands for the root, a path reserved for the tree, a folder on
    /// the way that was just removed, and a move of a folder into itself.
    case folder
    /// A file where a folder should be, or at the new path of a move.
    case file
    /// A pipe, socket or device.
    case special
    /// Another file system that is mounted in the tree, on the way to the path.
    case mountPoint
    /// A name that the file system does not take.
    case name

    /// The obstruction's text for a sentence: "… lies where `path` should be".
    public var text: String {
        switch self {
        case .symbolicLink: "a symbolic link"
        case .folder: "a folder"
        case .file: "a file"
        case .special: "a pipe, socket or device"
        case .mountPoint: "another file system"
        case .name: "a name that the file system does not accept"
        }
    }
}

/// The outcome of putting a file in place.
public enum PlaceOutcome: Hashable, Sendable {
    /// The file is in place. Its mark becomes proof when `Tree.renewed` has renewed it.
    case placed(FileMark)
    /// A file with the same content was already in place, and stays.
    case alreadyThere(FileMark)
    /// There is a file whose content the server is not known to have. Nothing was changed.
    case modified
    /// There is a file that a program has open. Nothing was changed.
    case inUse
    /// The path is obstructed. Nothing was changed.
    case obstructed(Obstruction)
}

/// The outcome of removing a copy.
public enum RemoveOutcome: Hashable, Sendable {
    /// The copy was removed.
    case removed
    /// There is no file at the path.
    case nothingThere
    /// The server is not known to have the content. Nothing was changed.
    case modified
    /// A program has the file open. Nothing was changed.
    case inUse
    /// The path is obstructed. Nothing was changed.
    case obstructed(Obstruction)
}

/// The outcome of a move within the tree.
public enum MoveOutcome: Hashable, Sendable {
    /// The entry was moved. The value is the new mark of a file whose mark proved its content; nil for any other file,
    /// and for a folder.
    case moved(FileMark?)
    /// There is no entry at the old path.
    case nothingThere
    /// Something lies at the new path or on the way to it. Nothing was moved.
    case obstructed(Obstruction)
}

/// The outcome of creating a folder.
public enum FolderOutcome: Hashable, Sendable {
    /// The folder was created.
    case made
    /// The folder existed already.
    case alreadyThere
    /// The path is obstructed.
    case obstructed(Obstruction)
}
