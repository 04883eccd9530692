import CLinux
import Glibc
import Model

/// The bytes of a library that the host opens: a copy in memory that nothing can change. What happens to the file
/// afterwards, such as a write over it, does not reach the host.
///
/// A library that needs other libraries beside it (`$ORIGIN`) is opened where it lies, because they are not beside a
/// copy. So is any library if the kernel gives no such memory.
///
/// The copy's descriptor stays open with the library, so that no other copy gets the same name.
struct LibraryImage {
    /// The path where the library lies.
    let source: String
    /// The mark of the file whose bytes these are.
    let mark: String
    /// The names of the libraries that it needs beside it.
    let neighbours: [String]
    /// The path to open.
    let path: String
    private let descriptor: Int32

    /// Copies a library. Blocks.
    /// - Throws: `.unreadable` if the file cannot be read, `.cannotOpen` if it is being written.
    init(of source: String) throws(Refusal) {
        let file = open(source, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw .unreadable(errno) }
        defer { close(file) }
        var (before, after) = (stat(), stat())
        guard fstat(file, &before) == 0 else { throw .unreadable(errno) }
        (self.source, mark) = (source, LibraryMark.text(before))
        neighbours = ELFDynamic(of: file)?.neededBeside(source) ?? []
        let name = source[(source.lastIndex(of: "/") ?? source.startIndex)...].drop { $0 == "/" }
        let copy = neighbours.isEmpty ? linux_sealed_copy(file, String(name.utf8.prefix(200)) ?? "plugin") : -1
        guard fstat(file, &after) == 0, LibraryMark.text(after).hasSameBytes(as: mark) else {
            close(copy)
            throw .cannotOpen("it is being written; it is tried again at the next start")
        }
        let own = "/proc/self/fd/\(copy)"
        if copy >= 0, access(own, R_OK) == 0 {
            (path, descriptor) = (own, copy)
        } else {
            close(copy)
            (path, descriptor) = (source, -1)
        }
    }

    /// Takes a library where it lies.
    init(inPlace path: String) { (source, mark, neighbours, self.path, descriptor) = (path, "", [], path, -1) }

    /// Whether the path is that of a copy, which nothing can change.
    var isCopy: Bool { descriptor >= 0 }

    /// Gives the copy up. The library must not have been opened.
    func discard() { close(descriptor) }
}
