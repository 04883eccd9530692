/// A path of the file system: bytes, since a name need not be UTF-8.
struct Path: Hashable, Sendable {
    /// With the closing NUL, as system calls take it.
    private(set) var bytes: [CChar]

    /// - Parameter bytes: with the closing NUL.
    init(bytes: [CChar]) { self.bytes = bytes }

    init(_ text: String) { bytes = Array(text.utf8CString) }

    /// - Parameter name: without a NUL.
    func entry(_ name: some Sequence<CChar>) -> Path {
        var path = self
        path.bytes.removeLast()
        path.bytes.append(CChar(bitPattern: UInt8(ascii: "/")))
        path.bytes += name
        path.bytes.append(0)
        return path
    }

    func entry(_ name: String) -> Path { entry(name.utf8.lazy.map { CChar(bitPattern: $0) }) }

    /// Nil for the root, and for a name alone.
    var parent: Path? {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        guard let end = bytes.dropLast().lastIndex(where: { $0 != slash }),
            let last = bytes[...end].lastIndex(of: slash)
        else { return nil }
        return Path(bytes: bytes[...last] + [0])
    }

    /// Without slashes, and dots for the folder itself, at its end: what it names is looked at, a symbolic link included.
    var withoutClosing: Path {
        let (slash, dot) = (CChar(bitPattern: UInt8(ascii: "/")), CChar(bitPattern: UInt8(ascii: ".")))
        var name = bytes.dropLast()
        while name.count > 1, name.last == slash || (name.last == dot && name.dropLast().last == slash) {
            name.removeLast()
        }
        return Path(bytes: name + [0])
    }

    /// For people.
    var text: String { bytes.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) } }
}
