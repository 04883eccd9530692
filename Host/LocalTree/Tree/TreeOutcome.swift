public import Model

/// What lies where a file or folder should be, or on the way there.
public enum Obstruction: Hashable, Sendable {
    case symbolicLink
    case folder
    /// Where a folder should be; at a move's end, any file or folder.
    case file
    /// A pipe, socket or device.
    case special
    /// The path leads onto another file system that is mounted in the tree.
    case mountPoint
    /// The file system does not take the name.
    case name

    /// For a sentence: "… lies where `path` should be".
    public var text: String {
        switch self {
        case .symbolicLink: "a symbolic link"
        case .folder: "a folder"
        case .file: "a file"
        case .special: "a pipe, socket or device"
        case .mountPoint: "another file system"
        case .name: "a name that the file system does not take"
        }
    }
}

/// What became of putting a file in place.
public enum PlaceOutcome: Hashable, Sendable {
    /// It is there. The mark becomes proof when `Tree.renewed` has renewed it.
    case placed(FileMark)
    /// The same content was there already, and stays.
    case alreadyThere(FileMark)
    /// There is a file whose content the server is not known to have. Nothing was changed.
    case modified
    /// There is a file that a program has open. Nothing was changed.
    case inUse
    /// Nothing was changed.
    case obstructed(Obstruction)
}

/// What became of removing a copy.
public enum RemoveOutcome: Hashable, Sendable {
    case removed
    case nothingThere
    /// The server is not known to have the content. Nothing was changed.
    case modified
    /// A program has it open. Nothing was changed.
    case inUse
    /// Nothing was changed.
    case obstructed(Obstruction)
}

/// What became of a move within the tree.
public enum MoveOutcome: Hashable, Sendable {
    /// With the new mark of a file whose content was known by its looks; nil of any other, and of a folder.
    case moved(FileMark?)
    case nothingThere
    /// Something is where it should go to. Nothing was changed.
    case obstructed(Obstruction)
}

/// What became of making a folder.
public enum FolderOutcome: Hashable, Sendable {
    case made
    case alreadyThere
    case obstructed(Obstruction)
}
