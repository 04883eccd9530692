import CLinux
package import Glibc

/// A descriptor of an open file or folder, which is closed when the value ends.
package struct Descriptor: ~Copyable, Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { Glibc.close(number) }

    /// Returns the status of the file or folder; nil with `errno` on failure.
    package func status() -> stat? {
        var info = stat()
        return fstat(number, &info) == 0 ? info : nil
    }
}

/// Returns the status of a name in a folder without following a symbolic link; nil with `errno` on failure.
package func status(of name: String, in folder: Int32) -> stat? {
    var info = stat()
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info : nil
}

/// Opens a path below a folder, on the folder's file system, without following symbolic links.
/// - Returns: A descriptor; below 0, with `errno`, on failure.
package func openBeneath(_ folder: Int32, _ path: String, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
    while true {
        let number = linux_open_beneath(folder, path, flags, mode)
        // The kernel returns EAGAIN if something was renamed while it resolved the path.
        if number >= 0 || (errno != EAGAIN && errno != EINTR) { return number }
    }
}

/// Opens a regular file in a folder for reading. Where the system allows it, the reading does not count as a use of the
/// file.
/// - Returns: A descriptor; below 0, with `errno`, on failure.
package func openForReading(_ name: String, in folder: Int32) -> Int32 {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let number = openat(folder, name, flags | linux_o_noatime)
    // Only a file's owner may leave its access time unchanged.
    return number < 0 && errno == EPERM ? openat(folder, name, flags) : number
}

extension stat {
    package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    package var isSymbolicLink: Bool { st_mode & S_IFMT == S_IFLNK }
}

/// Returns the beginning of a small file, without a closing newline.
package func readText(_ file: Int32, limit: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = pread(file, &bytes, limit, 0)
    let text = bytes.prefix(max(0, count))
    return String(decoding: text.last == UInt8(ascii: "\n") ? text.dropLast() : text, as: UTF8.self)
}
