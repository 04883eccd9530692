import Glibc
import Model

/// A folder for the files of one command.
struct TemporaryFolder {
    let path: String

    /// Makes the folder in `$TMPDIR`, else in `/tmp`.
    /// - Parameter name: the first part of its name.
    /// - Throws: `cannotCreate`.
    init(named name: String) throws(Failure) {
        let named = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // A plugin may change the working folder.
        let parent = named.hasPrefix("/") ? named : currentFolder() + "/" + named
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(.cannotCreate, "no folder can be created in \(parent): \(errorText(errno))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder and its contents. Symbolic links are not followed. Blocks.
    func remove() { Self.remove(path) }

    /// Removes a folder and its contents. Symbolic links are not followed. Blocks.
    static func remove(_ path: String) {
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name == "." || name == ".." { continue }
                let inner = path + "/" + name
                var status = stat()
                guard lstat(inner, &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { remove(inner) } else { unlink(inner) }
            }
            closedir(folder)
        }
        rmdir(path)
    }
}
