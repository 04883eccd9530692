import CLinux
package import Glibc

/// An open file or folder, closed when the value ends.
package struct Descriptor: ~Copyable, Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { Glibc.close(number) }

    /// What the file system says of it; nil with `errno`.
    package func status() -> stat? {
        var info = stat()
        return fstat(number, &info) == 0 ? info : nil
    }
}

/// What the file system says of a name in a folder, a symbolic link not followed; nil with `errno`.
package func status(of name: String, in folder: Int32) -> stat? {
    var info = stat()
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info : nil
}

/// Opens what lies below a folder, on its file system, without following a symbolic link on the way.
/// - Returns: a descriptor below 0, with `errno`, if that fails.
package func openBeneath(_ folder: Int32, _ path: String, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
    while true {
        let number = linux_open_beneath(folder, path, flags, mode)
        // The kernel asks for another try when something was renamed during the walk.
        if number >= 0 || (errno != EAGAIN && errno != EINTR) { return number }
    }
}

/// Opens a regular file in a folder for reading, without counting as a use of it where the system allows that.
/// - Returns: a descriptor below 0, with `errno`, if that fails.
package func openForReading(_ name: String, in folder: Int32) -> Int32 {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let number = openat(folder, name, flags | linux_o_noatime)
    // Only a file's owner may leave its access time alone.
    return number < 0 && errno == EPERM ? openat(folder, name, flags) : number
}

extension stat {
    package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    package var isSymbolicLink: Bool { st_mode & S_IFMT == S_IFLNK }
}

/// The beginning of a small file, without a closing newline.
package func readText(_ file: Int32, limit: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = pread(file, &bytes, limit, 0)
    let text = bytes.prefix(max(0, count))
    return String(decoding: text.last == UInt8(ascii: "\n") ? text.dropLast() : text, as: UTF8.self)
}
