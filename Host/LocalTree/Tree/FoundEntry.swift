package import Model

/// The kind of entry at a path.
package enum FoundEntry: Hashable {
    case nothing
    case file(FileMark)
    case folder
    /// A symbolic link, which is never a copy. If it took the place of a folder, the folder's contents may lie
    /// elsewhere now.
    case link
    /// A pipe, socket or device.
    case other
    /// An entry that the system does not show, or that lies behind a symbolic link or on another file system. This case
    /// is not absence.
    case unreadable(because: String)
}
