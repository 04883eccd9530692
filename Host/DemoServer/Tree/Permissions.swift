/// What the user may do with an item, in the letters of `oc:permissions`.
package struct Permissions: Hashable, Sendable {
    package enum Action: Character {
        case delete = "D"
        case rename = "N"
        /// A move into another folder.
        case move = "V"
        /// New content for a file.
        case write = "W"
        /// New files in a folder.
        case createFile = "C"
        /// New folders in a folder.
        case createFolder = "K"
    }

    /// The letters. `S` (shared), `R` (may be shared on) and `M` (mounted) are shown to clients and allow nothing here.
    package let letters: String

    package init(_ letters: String) { self.letters = letters }

    package func allow(_ action: Action) -> Bool { letters.contains(action.rawValue) }
}
