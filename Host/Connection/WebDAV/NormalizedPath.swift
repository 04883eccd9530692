extension ServerAddress {
    /// Returns the path that an href in an answer names, in the one spelling in which paths are compared and requested.
    /// In this spelling letters, digits and `-._~` stand for themselves, everything else is percent-encoded, and no
    /// segment is `.`, `..` or empty.
    ///
    /// Only the path counts: behind a proxy many servers name an inner host. As in listings, `?` and `#` are part of a
    /// name.
    /// - Parameter href: An absolute address, a path, or a reference relative to this address (RFC 4918, section 8.3).
    func normalizedPath(of href: String) -> String {
        let text = HrefReader.withoutAuthority(href.utf8[...])
        let slash = UInt8(ascii: "/")
        let isRelative = text.first != slash && text.startIndex == href.utf8.startIndex
        guard isRelative else { return Self.normalized(text[...]) }
        let folder = path.utf8[..<(path.utf8.lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.endIndex)]
        return Self.normalized(Array(folder) + Array(text))
    }

    /// The address's own path in that spelling.
    var normalizedPath: String { Self.normalized(path.utf8) }

    private static func normalized(_ text: some Collection<UInt8>) -> String {
        var names: [[UInt8]] = []
        var isFolder = true
        for name in text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let bytes = HrefReader.decoded(name).bytes
            isFolder = true
            if bytes.elementsEqual("..".utf8) {
                _ = names.popLast()
            } else if !bytes.isEmpty, !bytes.elementsEqual(".".utf8) {
                names.append(bytes)
                isFolder = false
            }
        }
        let path = names.map { "/" + PercentCoding.encoded(bytes: $0) }.joined()
        return isFolder ? path + "/" : path
    }
}
