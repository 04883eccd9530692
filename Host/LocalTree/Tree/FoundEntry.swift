package import Model

/// What lies at a path.
package enum FoundEntry: Hashable {
    case nothing
    case file(FileMark)
    case folder
    /// A symbolic link. It is nobody's copy; where a folder was, what was in it may lie elsewhere now.
    case link
    /// A pipe, socket or device.
    case other
    /// The system does not say, or the way leads over a symbolic link or onto another file system: that is not absence.
    case unreadable(because: String)
}
