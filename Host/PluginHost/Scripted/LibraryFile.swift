/// What tells, without opening it, that the host would not use a library's file.
package enum LibraryFile {
    /// Returns the reason why a file is no library for this machine; nil if it is one.
    package static func refusal(of file: String) -> String? { ELFHeader.refusal(of: file)?.reason }

    /// Returns who could change the library's code; nil if only root and this user can.
    /// - Parameter file: The absolute path of the library.
    package static func danger(of file: String) -> String? { PathSafety.refusal(of: file)?.reason }
}
