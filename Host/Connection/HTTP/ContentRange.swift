import Model

/// The `Content-Range` field of a 206 (RFC 9110, section 14.4): `bytes 10-19/1004`, `bytes 10-19/*`.
struct ContentRange: Equatable {
    var first: Int64
    var last: Int64
    /// The whole length; nil if the server does not know the length.
    var size: Int64?

    init?(_ field: String) {
        let words = field.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = OutsideNumber.size(ends[0]), let last = OutsideNumber.size(ends[1]),
            last >= first
        else { return nil }
        self.first = first
        self.last = last
        if halves[1] != "*" {
            guard let size = OutsideNumber.size(halves[1]), size > last else { return nil }
            self.size = size
        }
    }
}
