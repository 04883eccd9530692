public import Glibc

/// Files and folders for tests, by system calls. Names are bytes here, as they are to the file system.
public enum Files {
    /// Makes a folder and the missing folders above it.
    public static func makeFolder(_ path: String) throws {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
            throw SetupError(call: "mkdir", path: path)
        }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw SetupError(call: "mkdir", path: path) }
    }

    /// Writes a file, and the folders above it if they are missing.
    public static func write(_ bytes: some Collection<UInt8>, to path: String, mode: mode_t = 0o644) throws {
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) { try makeFolder(String(path[..<slash])) }
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw SetupError(call: "open", path: path) }
        defer { close(file) }
        let bytes = ContiguousArray(bytes)
        try bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let written = Glibc.write(file, buffer.baseAddress?.advanced(by: done), buffer.count - done)
                guard written > 0 else { throw SetupError(call: "write", path: path) }
                done += written
            }
        }
    }

    /// Writes a text to a file, and makes the folders above the file if they are missing.
    public static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        try write(text.utf8, to: path, mode: mode)
    }

    /// Returns the content of a file.
    public static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SetupError(call: "open", path: path) }
        defer { close(file) }
        var all: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &block, block.count)
            guard count >= 0 else { throw SetupError(call: "read", path: path) }
            if count == 0 { return all }
            all += block[..<count]
        }
    }

    /// Returns the content of a file as UTF-8 text. Invalid bytes are replaced.
    public static func text(_ path: String) throws -> String { String(decoding: try read(path), as: UTF8.self) }

    /// Tells whether there is an entry at a path. Symbolic links are not followed.
    public static func exists(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0
    }

    /// Returns the permission bits of a file, folder or link, without its type; nil if there is no such entry.
    public static func mode(of path: String) -> mode_t? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o7777 : nil
    }

    /// Returns the user that owns a file, folder or link; nil if there is no such entry.
    public static func owner(of path: String) -> uid_t? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_uid : nil
    }

    /// Tells whether there is a folder at a path. Symbolic links are not followed.
    public static func isFolder(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the path that a symbolic link points to; nil for anything else.
    public static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the number of files below a folder that this process has open. They may have no names any more.
    public static func countOpen(below folder: String) throws -> Int {
        try names(in: "/proc/self/fd").count { target(of: "/proc/self/fd/\($0)")?.hasPrefix(folder + "/") ?? false }
    }

    /// Returns the names in a folder, sorted by their bytes.
    public static func names(in path: String) throws -> [String] {
        guard let folder = opendir(path) else { throw SetupError(call: "opendir", path: path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the paths of all regular files below a folder, relative to that folder. Symbolic links are passed over.
    public static func filesBelow(_ path: String) throws -> [String] {
        var found: [String] = []
        func walk(_ relative: String) throws {
            for name in try names(in: relative.isEmpty ? path : "\(path)/\(relative)") {
                let below = relative.isEmpty ? name : "\(relative)/\(name)"
                var info = stat()
                guard lstat("\(path)/\(below)", &info) == 0 else { continue }
                if info.st_mode & S_IFMT == S_IFDIR { try walk(below) }
                if info.st_mode & S_IFMT == S_IFREG { found.append(below) }
            }
        }
        try walk("")
        return found
    }

    /// Removes a file, or a folder with everything in it. A missing file is no error.
    public static func remove(_ path: String) {
        if isFolder(path) {
            for name in (try? names(in: path)) ?? [] { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            unlink(path)
        }
    }
}
