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
    /// Whether the user marked the item as a favorite.
    package var isFavorite = false
    /// The letters of `oc:permissions`; nil for all that the user has in a tree of their own.
    package var letters: String?
    /// The properties that clients gave the item and that mean nothing to the server, with their content as XML.
    var deadProperties: [XMLName: String] = [:]

    package var isFolder: Bool { children != nil }

    /// The item's id and version, as they stand in an ETag.
    package var tag: String { "\(String(id, radix: 16))-\(String(version, radix: 16))" }

    /// What the user may do with the item.
    package var permissions: Permissions { Permissions(letters ?? (isFolder ? "RDNVCK" : "RDNVW")) }
}
