import LarderSDK

/// An object of a calendar, as the server lists it.
struct Member: Hashable {
    var href: String
    /// The ETag. Nil: the server does not say.
    var etag: String?

    /// Tells whether two ETags stand for the same content. It ignores `W/` and the suffix that servers
    /// and proxies add for compression.
    static func isSame(_ one: String, _ other: String) -> Bool {
        strong(one).elementsEqual(strong(other))
    }

    private static func strong(_ etag: String) -> [UInt8] {
        var bytes = Array(etag.utf8)
        if bytes.starts(with: "W/".utf8) { bytes.removeFirst(2) }
        for suffix in codings where bytes.count > suffix.count && bytes.suffix(suffix.count).elementsEqual(suffix) {
            bytes.replaceSubrange((bytes.count - suffix.count)..., with: "\"".utf8)
            break
        }
        return bytes
    }

    private static let codings = ["--gzip", "-gzip", ";gzip", "-br", "-zstd"].map { Array(($0 + "\"").utf8) }
}

extension [Member] {
    /// A digest that changes with every member that is added, removed or changed.
    var digest: String {
        var digest = Digest()
        for member in self {
            digest.add(member.href)
            digest.add(member.etag ?? "")
        }
        return digest.text
    }
}
