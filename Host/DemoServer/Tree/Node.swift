/// A file or folder of the served tree.
package struct Node: Sendable {
    /// The id, which stays the same through moves; `oc:id` is made of it.
    package let id: UInt64
    /// The id of the parent; nil for the root.
    package var parent: UInt64?
    package var name: [UInt8]
    /// The ids of a folder's children, by name; nil for a file.
    package var children: [[UInt8]: UInt64]?
    package var content = Content.none
    /// The modification time in seconds since 1970 UTC.
    package var modified: Int64
    /// The number of the tree's last change that concerns this node; ETags are made of it.
    var version: UInt64
    /// The size of a file; for a folder, the size of all files below it.
    package var size = 0

    package var isFolder: Bool { children != nil }

    /// The item's id and version, as they stand in an ETag.
    package var tag: String { "\(String(id, radix: 16))-\(String(version, radix: 16))" }
}

/// The reason why the tree refuses a change, as a WebDAV server reports it.
package enum TreeError: Error {
    case notFound
    /// A target folder that does not exist.
    case noParent
    /// A target that exists already.
    case exists
    /// A file where a folder is needed, or the reverse.
    case wrongKind
    /// A move of a folder into itself.
    case intoItself
    case preconditionFailed
}
