import Model

/// Terms about rows of items, with the states' numbers.
enum ItemSQL {
    static let isFile = "type = \(Item.Kind.file.sql)"
    static let isFolder = "type = \(Item.Kind.folder.sql)"
    /// Something is here, or is to be. An index of its own has these rows.
    static let isHere = "cloudStatus <> \(CloudStatus.cloudOnly.sql)"
    static let isCopy = "cloudStatus = \(CloudStatus.localCopy.sql)"
    static let isModified = "cloudStatus = \(CloudStatus.locallyModified.sql)"
    /// It is here as a version of the server's, changed since or not.
    static let isOfServer = "cloudStatus IN (\(CloudStatus.localCopy.sql), \(CloudStatus.locallyModified.sql))"
    /// It was changed or made here.
    static let isChanged = "cloudStatus IN (\(CloudStatus.locallyModified.sql), \(CloudStatus.localOnly.sql))"
    /// It is on the server.
    static let isListed = "removedAt IS NULL AND fileID IS NOT NULL"
    static let isMissing = "databaseID IN (SELECT databaseID FROM missingItems)"
    /// The row's path has an item that is not removed.
    static let hasSuccessor = """
        EXISTS (SELECT 1 FROM items AS other WHERE other.path = items.path AND other.removedAt IS NULL)
        """

    /// What is below a folder, without the folder itself, by the index of paths. Two arguments: ``range(below:)``.
    static let isInRange = "path >= ? AND path < ?"
    /// All rows below a folder, removed ones too, by the index of folders. Three arguments: ``bounds(below:)``.
    static let isBelow = "(parentPath = ? OR (parentPath >= ? AND parentPath < ?))"

    /// The bounds of the texts that begin with a folder's prefix: the upper one has the slash's successor.
    static func range(below folder: ItemPath) -> [SQLValue] {
        let prefix = folder.prefixOfItemsBelow
        return [.text(prefix), .text(String(prefix.dropLast()) + "0")]
    }

    static func bounds(below folder: ItemPath) -> [SQLValue] { [.path(folder)] + range(below: folder) }
}
