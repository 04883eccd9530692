import Glibc
package import Model

/// Returns the names in a folder. Names that are not UTF-8 are left out.
/// - Throws: `.localIO` if the folder cannot be read.
package func names(in folder: Int32) throws(Failure) -> [String] {
    let number = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0, let stream = fdopendir(number) else { throw .system("reading a folder", errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        guard let name = String(validating: FolderEntry.bytes(of: entry), as: UTF8.self) else { continue }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// The functions that read a folder's entries.
enum FolderEntry {
    static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        String(decoding: bytes(of: entry), as: UTF8.self)
    }

    /// Returns the unchanged bytes of the name, which need not be UTF-8.
    static func bytes(of entry: UnsafeMutablePointer<dirent>) -> UnsafeBufferPointer<UInt8> {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: UInt8.self)
        return UnsafeBufferPointer(
            start: start, count: strlen(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)))
    }
}
