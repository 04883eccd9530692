import Glibc

extension Failure {
    /// Returns the failure of reading a person's file that is to be uploaded.
    package static func reading(_ file: String, _ code: Int32) -> Failure {
        switch code {
        case ENOENT, ENOTDIR: Failure(.notFound, "There is no file \(file)", hint: "Name a file on this machine")
        case ELOOP:
            Failure(
                .badData, "\(file) is not a regular file: its symbolic links lead in a circle",
                hint: "Name a file on this machine")
        case EACCES, EPERM:
            Failure(
                .denied, "\(file) may not be read", hint: "Check the rights of the file and of the folders above it")
        default: .system("reading \(file)", code)
        }
    }

    /// Creates the failure of a system call on the tree or the vault, for a reason that lies in the system.
    /// - Parameters:
    ///   - what: The operation and its object: `writing /a/b`.
    ///   - code: The value of `errno`.
    package static func system(_ what: String, _ code: Int32) -> Failure {
        switch code {
        case ENOSPC, EDQUOT:
            Failure(
                .localIO, "The disk is full: \(what) failed",
                hint: "Free some space and start again; what is complete stays")
        case EROFS:
            Failure(
                .localIO, "The disk cannot be written: \(what) failed",
                hint: "Mount the disk for writing, or name another folder in the config")
        case EACCES, EPERM:
            Failure(
                .localIO, "Permission denied: \(what) failed",
                hint: "Check that the folder belongs to the user that Larder runs as")
        default:
            Failure(
                .localIO,
                "\(what.prefix(1).uppercased() + what.dropFirst()) failed: \(String(cString: strerror(code)))",
                hint: "Check that the disk is mounted and sound")
        }
    }
}
