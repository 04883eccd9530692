import Model

/// SQL terms about items' rows, with the numbers that stand for the states.
enum ItemSQL {
    static let isFile = "type = \(Item.Kind.file.sql)"
    static let isFolder = "type = \(Item.Kind.folder.sql)"
    /// Whether something is here, or is meant to be here. These rows have an index of their own.
    static let isHere = "cloudStatus <> \(CloudStatus.cloudOnly.sql)"
    static let isCopy = "cloudStatus = \(CloudStatus.localCopy.sql)"
    static let isModified = "cloudStatus = \(CloudStatus.locallyModified.sql)"
    /// Whether a version of the server's is here, changed since or not.
    static let isOfServer = "cloudStatus IN (\(CloudStatus.localCopy.sql), \(CloudStatus.locallyModified.sql))"
    /// Whether the item was changed or made here.
    static let isChanged = "cloudStatus IN (\(CloudStatus.locallyModified.sql), \(CloudStatus.localOnly.sql))"
    /// Whether the item is on the server.
    static let isListed = "removedAt IS NULL AND fileID IS NOT NULL"
    /// Whether the item is on the server, or is about to be made there.
    static let isOnServer = "removedAt IS NULL AND (fileID IS NOT NULL OR \(isNotOnlyHere))"
    /// Whether an item without an id is about to be made on the server. A policy may have made such a folder here.
    static let isNotOnlyHere = "(NOT (\(isHere)) OR (\(isFolder) AND \(isCopy)))"
    /// Whether the row shows what is in a folder that is to be copied, or was, and no listing has told of the item.
    static let isCopied = "copiedBy IS NOT NULL AND fileID IS NULL AND \(isNotOnlyHere)"
    static let isMissing = "databaseID IN (SELECT databaseID FROM missingItems)"
    /// Whether the row's path has an item that is not removed.
    static let hasSuccessor = """
        EXISTS (SELECT 1 FROM items AS other WHERE other.path = items.path AND other.removedAt IS NULL)
        """

    /// Whether an item is below a folder, by the index of paths; the folder itself is not included. The term takes the
    /// two arguments of ``range(below:)``.
    static let isInRange = "path >= ? AND path < ?"
    /// Whether a row is below a folder, removed or not, by the index of folders. The term takes the three arguments of
    /// ``bounds(below:)``.
    static let isBelow = "(parentPath = ? OR (parentPath >= ? AND parentPath < ?))"

    /// Returns the bounds of the paths that begin with a folder's prefix. The upper bound ends with the character after
    /// the slash.
    static func range(below folder: ItemPath) -> [SQLValue] {
        let prefix = folder.prefixOfItemsBelow
        return [.text(prefix), .text(String(prefix.dropLast()) + "0")]
    }

    static func bounds(below folder: ItemPath) -> [SQLValue] { [.path(folder)] + range(below: folder) }
}
