/// A file or folder of the served tree.
package struct Node: Sendable {
    /// Stays the same through moves; `oc:id` is made of it.
    package let id: UInt64
    /// nil for the root.
    package var parent: UInt64?
    package var name: [UInt8]
    /// The ids of what is in a folder, by name; nil for a file.
    package var children: [[UInt8]: UInt64]?
    package var content = Content.none
    /// Seconds since 1970 UTC.
    package var modified: Int64
    /// The number of the tree's last change that concerns this node; ETags are made of it.
    var version: UInt64
    /// A file's size; for a folder that of all files below.
    package var size = 0

    package var isFolder: Bool { children != nil }

    /// The item's id and version: what stands in an ETag.
    package var tag: String { "\(String(id, radix: 16))-\(String(version, radix: 16))" }
}

/// Why the tree refuses a change, as a WebDAV server says it.
package enum TreeError: Error {
    case notFound
    /// The folder that it should go into is not there.
    case noParent
    /// There is something already.
    case exists
    /// A file where a folder is needed, or the other way round.
    case wrongKind
    /// A folder into itself.
    case intoItself
    case preconditionFailed
}
