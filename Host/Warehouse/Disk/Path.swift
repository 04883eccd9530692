/// A path in the file system. It consists of bytes because a name need not be UTF-8.
struct Path: Hashable, Sendable {
    /// The bytes with the closing NUL, as system calls expect them.
    private(set) var bytes: [CChar]

    /// Creates a path from its bytes.
    /// - Parameter bytes: The bytes with the closing NUL.
    init(bytes: [CChar]) { self.bytes = bytes }

    init(_ text: String) { bytes = Array(text.utf8CString) }

    /// Returns the path of an entry of this folder.
    /// - Parameter name: The name of the entry, without a NUL.
    func entry(_ name: some Sequence<CChar>) -> Path {
        var path = self
        path.bytes.removeLast()
        path.bytes.append(CChar(bitPattern: UInt8(ascii: "/")))
        path.bytes += name
        path.bytes.append(0)
        return path
    }

    func entry(_ name: String) -> Path { entry(name.utf8.lazy.map { CChar(bitPattern: $0) }) }

    /// The path of the parent folder; nil for the root and for a single name.
    var parent: Path? {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        guard let end = bytes.dropLast().lastIndex(where: { $0 != slash }),
            let last = bytes[...end].lastIndex(of: slash)
        else { return nil }
        return Path(bytes: bytes[...last] + [0])
    }

    /// The path without closing slashes and closing `.` components. A call that does not follow symbolic links then
    /// sees a link at this path instead of its target.
    var withoutClosing: Path {
        let (slash, dot) = (CChar(bitPattern: UInt8(ascii: "/")), CChar(bitPattern: UInt8(ascii: ".")))
        var name = bytes.dropLast()
        while name.count > 1, name.last == slash || (name.last == dot && name.dropLast().last == slash) {
            name.removeLast()
        }
        return Path(bytes: name + [0])
    }

    /// The path as text for messages and for callers; invalid UTF-8 is replaced.
    var text: String { bytes.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) } }
}
