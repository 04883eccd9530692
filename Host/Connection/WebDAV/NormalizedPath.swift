extension ServerAddress {
    /// Returns the path that an href in an answer names, in the one spelling in which paths are compared and requested.
    /// In this spelling letters, digits and `-._~` stand for themselves, everything else is percent-encoded, and no
    /// segment is `.` or `..`. An empty segment is left out, since servers add slashes where they join paths, but for one
    /// inside the name of something in this collection, which is a name of its own for the server.
    ///
    /// Only the path counts: behind a proxy many servers name an inner host. As in listings, `?` and `#` are part of a
    /// name.
    /// - Parameter href: An absolute address, a path, or a reference relative to this address (RFC 4918, section 8.3).
    func normalizedPath(of href: String) -> String {
        let text = HrefReader.withoutAuthority(href.utf8)
        let slash = UInt8(ascii: "/")
        let isRelative = text.first != slash && text.startIndex == href.utf8.startIndex
        guard isRelative else { return Self.normalized(text[...], below: collection) }
        let folder = path.utf8[..<(path.utf8.lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.endIndex)]
        return Self.normalized(Array(folder) + Array(text), below: collection)
    }

    /// The names of this address, if it is that of a collection below the root.
    private var collection: [[UInt8]]? {
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { HrefReader.decoded($0).bytes }
        return names.isEmpty || !path.hasSuffix("/") ? nil : names
    }

    /// The address's own path in that spelling.
    var normalizedPath: String { Self.normalized(path.utf8) }

    private static func normalized(_ text: some Collection<UInt8>, below collection: [[UInt8]]? = nil) -> String {
        var names: [[UInt8]] = []
        var isFolder = true
        var empty = 0
        for name in text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let bytes = HrefReader.decoded(name).bytes
            isFolder = true
            if bytes.elementsEqual("..".utf8) {
                _ = names.popLast()
            } else if bytes.isEmpty {
                empty += 1
                continue
            } else if !bytes.elementsEqual(".".utf8) {
                if let collection, names.count > collection.count, names.starts(with: collection) {
                    names += Array(repeating: [], count: empty)
                }
                names.append(bytes)
                isFolder = false
            }
            empty = 0
        }
        let path = names.map { "/" + PercentCoding.encoded(bytes: $0) }.joined()
        return isFolder ? path + "/" : path
    }
}
