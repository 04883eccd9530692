import LarderSDK

/// An object of a calendar, as the server lists it.
struct Member: Hashable {
    var href: String
    /// Nil: the server does not say.
    var etag: String?

    /// Whether two ETags stand for the same content: `W/`, and what Apache adds for compression, aside.
    static func isSame(_ one: String, _ other: String) -> Bool {
        strong(one).elementsEqual(strong(other))
    }

    private static func strong(_ etag: String) -> [UInt8] {
        var bytes = Array(etag.utf8)
        if bytes.starts(with: "W/".utf8) { bytes.removeFirst(2) }
        let suffix = Array("-gzip\"".utf8)
        if bytes.count > suffix.count, bytes.suffix(suffix.count).elementsEqual(suffix) {
            bytes.replaceSubrange((bytes.count - suffix.count)..., with: "\"".utf8)
        }
        return bytes
    }
}

extension [Member] {
    /// Changes with every member that comes, goes or changes.
    var digest: String {
        var digest = Digest()
        for member in self {
            digest.add(member.href)
            digest.add(member.etag ?? "")
        }
        return digest.text
    }
}
