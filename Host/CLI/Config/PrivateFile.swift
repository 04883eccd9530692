import Glibc
import Model

/// Files that only their owner may read.
enum PrivateFile {
    /// Writes a file, whole or not at all, in place of one of the same name: mode 0600, durable.
    /// - Throws: `cannotCreate` with the system's reason.
    static func put(_ bytes: [UInt8], at path: String) throws(Failure) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try makeFolder(folder)
        var template = Array("\(folder)/.larder-secret-XXXXXX".utf8CString)
        // The system creates it with mode 0600.
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(path, errno) }
        let isWritten = write(bytes, to: descriptor)
        let number = errno
        close(descriptor)
        guard isWritten, rename(template, path) == 0 else {
            let reason = isWritten ? errno : number
            unlink(template)
            throw failure(path, reason)
        }
        syncFolder(folder)
    }

    /// Removes a file.
    /// - Returns: whether that succeeded.
    static func remove(_ path: String) -> Bool { unlink(path) == 0 }

    /// Creates a folder and those above it, for their owner only, if they do not exist.
    /// - Throws: `cannotCreate` with the system's reason.
    static func makeFolder(_ path: String) throws(Failure) {
        if path.isEmpty || mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw failure(path, errno) }
        try makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path, errno) }
    }

    /// Writes all bytes to the disk.
    /// - Returns: whether that succeeded; otherwise `errno` says why.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest.removeFirst(count)
        }
        return fsync(descriptor) == 0
    }

    static func syncFolder(_ folder: String) {
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func failure(_ path: String, _ number: Int32) -> Failure {
        Failure(.cannotCreate, "\(path) cannot be written: \(errorText(number))")
    }
}
