import CLinux
import Glibc

/// The system calls of the storage. They report failures by an error value instead of `errno`.
struct Disk: Sendable {
    enum Call: String, Sendable, CaseIterable {
        case open, read, write, fsync, syncfs, mkdir, link, symlink, readlink, rename, exchange, unlink, rmdir, readdir
        case lstat, clone, utimens, flock, realpath
    }

    /// A function that runs before each call; an error that it throws replaces the call. Tests use it to make the disk
    /// fail or the process stop at any call.
    var gate: (@Sendable (Call, Path) throws(SystemCallError) -> Void)?

    /// The size of the largest file that is written or read, in bytes. A larger file, such as a sparse file, is no file
    /// of the storage's own.
    var largestFile = 1 << 30

    init(gate: (@Sendable (Call, Path) throws(SystemCallError) -> Void)? = nil) { self.gate = gate }

    /// Makes a system call, and repeats it if a signal interrupted it.
    /// - Parameter body: Returns the call's result; a negative result means a failure, with its cause in `errno`.
    @discardableResult
    func perform<Result: SignedInteger>(
        _ call: Call, _ path: Path, _ body: () -> Result
    ) throws(SystemCallError) -> Result {
        try gate?(call, path)
        while true {
            let result = body()
            if result >= 0 { return result }
            guard errno == EINTR else { throw SystemCallError(call: call.rawValue, path: path.text, code: errno) }
        }
    }

    func open(_ path: Path, _ flags: Int32) throws(SystemCallError) -> Descriptor {
        Descriptor(try perform(.open, path) { Glibc.open(path.bytes, flags | O_CLOEXEC, 0o600) }, path)
    }

    /// Opens a file in an open folder for reading, even if the folder was renamed meanwhile.
    func open(_ name: String, in folder: borrowing Descriptor) throws(SystemCallError) -> Descriptor {
        let (number, path) = (folder.number, folder.path.entry(name))
        return Descriptor(try perform(.open, path) { openat(number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }, path)
    }

    func openFolder(_ path: Path) throws(SystemCallError) -> Descriptor {
        try open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    /// Writes a new file. Fails if the file exists.
    /// - Throws: `EFBIG`, before anything is written, if the file could not be read again.
    func write(_ bytes: [UInt8], to path: Path) throws(SystemCallError) {
        guard bytes.count <= largestFile else { throw SystemCallError(call: "write", path: path.text, code: EFBIG) }
        let file = try open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        try write(bytes[...], to: file)
    }

    func write(_ bytes: ArraySlice<UInt8>, to file: borrowing Descriptor) throws(SystemCallError) {
        let number = file.number
        var rest = bytes
        while !rest.isEmpty {
            let count = try perform(.write, file.path) {
                rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads a regular file to its end.
    /// - Throws: `EFBIG` if the file is larger than ``largestFile``.
    func read(_ file: borrowing Descriptor) throws(SystemCallError) -> [UInt8] {
        let (number, path) = (file.number, file.path)
        // The buffer has one byte more than the file, so that the first call finds the end of most files.
        let size = Int(try status(file).st_size)
        guard size <= largestFile else { throw SystemCallError(call: "read", path: path.text, code: EFBIG) }
        var bytes = [UInt8](repeating: 0, count: size + 1)
        var done = 0
        while true {
            let got = try perform(.read, path) {
                bytes.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress?.advanced(by: done), $0.count - done) }
            }
            done += got
            if got == 0 || done < bytes.count {
                if got == 0 || done == bytes.count - 1 {
                    bytes.removeSubrange(done...)
                    return bytes
                }
            } else {
                guard done <= largestFile else {
                    throw SystemCallError(call: "read", path: path.text, code: EFBIG)
                }
                bytes += [UInt8](repeating: 0, count: 65_536)
            }
        }
    }

    func status(_ file: borrowing Descriptor) throws(SystemCallError) -> stat {
        var info = stat()
        let number = file.number
        try perform(.lstat, file.path) { fstat(number, &info) }
        return info
    }

    /// Returns the status of the entry at a path without following a symbolic link; nil if there is no entry.
    func status(_ path: Path) throws(SystemCallError) -> stat? {
        var info = stat()
        do throws(SystemCallError) {
            try perform(.lstat, path) { lstat(path.bytes, &info) }
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        return info
    }

    func makeFolder(_ path: Path) throws(SystemCallError) {
        try perform(.mkdir, path) { mkdir(path.bytes, 0o700) }
    }

    /// Creates a folder and its missing parents, durably. Does nothing if the folder exists.
    func makeFolders(_ path: Path) throws(SystemCallError) {
        do throws(SystemCallError) {
            try makeFolder(path)
        } catch {
            if error.code == EEXIST { return }
            guard error.code == ENOENT, let parent = path.parent else { throw error }
            try makeFolders(parent)
            try makeFolder(path)
        }
        if let parent = path.parent { try sync(parent) }
    }

    /// Makes the content of a file, or the names in a folder, durable.
    func sync(_ path: Path) throws(SystemCallError) {
        let file = try open(path, O_RDONLY | O_NOFOLLOW)
        try perform(.fsync, path) { fsync(file.number) }
    }

    /// Makes all writes to the file system of a path durable.
    func syncFileSystem(of path: Path) throws(SystemCallError) {
        let file = try open(path, O_RDONLY)
        try perform(.syncfs, path) { linux_syncfs(file.number) }
    }

    /// Renames an entry without replacing another one. Throws `EEXIST` if the new name is taken.
    func rename(_ from: Path, to: Path) throws(SystemCallError) {
        do throws(SystemCallError) {
            try perform(.rename, to) { linux_rename_noreplace(AT_FDCWD, from.bytes, AT_FDCWD, to.bytes) }
        } catch {
            // Not every file system supports this rename. Under the lock of the base folder, checking first is as good.
            guard error.code == EINVAL else { throw error }
            if try status(to) != nil { throw SystemCallError(call: "rename", path: to.text, code: EEXIST) }
            try perform(.rename, to) { Glibc.rename(from.bytes, to.bytes) }
        }
    }

    /// Exchanges two entries in one step.
    func exchange(_ a: Path, _ b: Path) throws(SystemCallError) {
        try perform(.exchange, b) { linux_rename_exchange(AT_FDCWD, a.bytes, AT_FDCWD, b.bytes) }
    }

    func link(_ from: Path, to: Path) throws(SystemCallError) {
        try perform(.link, to) { Glibc.link(from.bytes, to.bytes) }
    }

    /// Returns the absolute path without symbolic links.
    func realPath(_ path: Path) throws(SystemCallError) -> Path {
        try gate?(.realpath, path)
        guard let real = realpath(path.bytes, nil) else {
            throw SystemCallError(call: "realpath", path: path.text, code: errno)
        }
        defer { free(real) }
        return Path(bytes: Array(UnsafeBufferPointer(start: real, count: strlen(real) + 1)))
    }

    func removeFile(_ path: Path) throws(SystemCallError) {
        try perform(.unlink, path) { unlink(path.bytes) }
    }

    func removeFolder(_ path: Path) throws(SystemCallError) {
        try perform(.rmdir, path) { rmdir(path.bytes) }
    }

    /// Returns the names in a folder, in no particular order.
    func names(in path: Path) throws(SystemCallError) -> [[CChar]] {
        try gate?(.readdir, path)
        guard let folder = opendir(path.bytes) else {
            throw SystemCallError(call: "readdir", path: path.text, code: errno)
        }
        defer { closedir(folder) }
        var names: [[CChar]] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                $0.prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
            }
            if name != [0x2e], name != [0x2e, 0x2e] { names.append(name) }
        }
        guard errno == 0 else { throw SystemCallError(call: "readdir", path: path.text, code: errno) }
        return names
    }
}

/// A descriptor of an open file or folder, which is closed when the value is destroyed.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32
    let path: Path

    init(_ number: Int32, _ path: Path) {
        self.number = number
        self.path = path
    }

    deinit { close(number) }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    var isSymbolicLink: Bool { st_mode & S_IFMT == S_IFLNK }
}
