import Model

/// A reader that finds the item of the account that an href of a multistatus names (RFC 4918, section 8.3).
///
/// Hrefs are absolute addresses, paths, or relative to the requested address. Servers encode them in many different
/// ways. They are therefore compared as the bytes that they stand for. The host of an absolute address is ignored:
/// behind a proxy many servers name an inner host.
struct HrefReader {
    enum Place: Equatable {
        case item(ItemPath)
        case refused(ItemPath.Problem)
        /// An address that is not below the account's root.
        case elsewhere
    }

    /// The root's path, decoded, with a closing slash.
    private let root: [UInt8]
    /// The path to which relative hrefs are added, decoded, with a closing slash.
    private let folder: [UInt8]

    /// Creates a reader for the hrefs of one answer.
    /// - Parameters:
    ///   - root: The account's root, with a closing slash.
    ///   - asked: The address that was requested.
    init(root: ServerAddress, asked: ServerAddress) {
        self.root = Self.decoded(root.path.utf8).bytes
        self.folder = Self.decoded(asked.asFolder.path.utf8).bytes
    }

    func place(of href: String) -> Place { href.withBytes { place(of: $0) } }

    private func place(of href: UnsafeRawBufferPointer) -> Place {
        var text = Self.withoutAuthority(href)
        if text.starts(with: "./".utf8) { text = text.dropFirst(2) }
        if text.elementsEqual(".".utf8) { text = text.dropFirst() }
        var (bytes, hasEncodedSlash) = Self.decoded(text)
        if bytes.first != UInt8(ascii: "/") { bytes = folder + bytes }

        let below: ArraySlice<UInt8>
        if bytes.starts(with: root) {
            below = bytes[(root.count - 1)...]
        } else if bytes.elementsEqual(root.dropLast()) {
            below = [UInt8(ascii: "/")]
        } else {
            return Self.hasDotName(bytes) ? .refused(.dotName) : .elsewhere
        }
        if hasEncodedSlash { return .refused(.slashInName) }
        guard let path = String(validating: below, as: UTF8.self) else { return .refused(.notUTF8) }
        do { return .item(try ItemPath(path)) } catch { return .refused(error) }
    }

    /// Returns the text after scheme and host, if there are any.
    static func withoutAuthority<Text: Collection<UInt8>>(_ text: Text) -> Text.SubSequence {
        guard text.first != UInt8(ascii: "/"), let colon = text.firstIndex(of: UInt8(ascii: ":")),
            text[colon...].starts(with: "://".utf8), text[..<colon].allSatisfy({ $0.isLetter })
        else { return text[...] }
        return text[colon...].dropFirst(3).drop { $0 != UInt8(ascii: "/") }
    }

    /// Undoes percent-encoding and takes runs of slashes as one slash. A `%` that does not begin an encoding stands for
    /// itself, and so do `?` and `#`: no resource of a listing has a query, but some servers forget to encode these
    /// characters in names.
    static func decoded(_ text: some Collection<UInt8>) -> (bytes: [UInt8], hasEncodedSlash: Bool) {
        let slash = UInt8(ascii: "/")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 1)
        var hasEncodedSlash = false
        var index = text.startIndex
        while index != text.endIndex {
            let byte = text[index]
            text.formIndex(after: &index)
            if byte == UInt8(ascii: "%"), index != text.endIndex, let high = text[index].hexadecimalValue {
                let second = text.index(after: index)
                if second != text.endIndex, let low = text[second].hexadecimalValue {
                    let value = high << 4 | low
                    if value == slash { hasEncodedSlash = true }
                    bytes.append(value)
                    index = text.index(after: second)
                    continue
                }
            }
            if byte == slash, bytes.last == slash { continue }
            bytes.append(byte)
        }
        return (bytes, hasEncodedSlash)
    }

    private static func hasDotName(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self) }
}
