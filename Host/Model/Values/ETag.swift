/// The version of an item's content, as the server reports it.
///
/// ETags are compared weakly (RFC 9110, section 8.8.3.2). Servers such as Apache's `mod_dav` give a weak tag within a
/// second of the write and the same tag without `W/` later, and compressing modules append `-gzip`. The type stores the
/// strength apart and drops `-gzip`, so that equal versions are equal values. Only strong tags may go into `If-Match`
/// and `If-Range`.
public struct ETag: Hashable, Sendable, CustomStringConvertible {
    /// The strength of a tag, which decides how the tag may be used.
    public enum Strength: Int, Sendable {
        /// A tag for which the server guarantees the same bytes.
        case strong = 0
        /// A tag for which the server guarantees only the same meaning (`W/"…"`).
        case weak = 1
        /// A tag made of the item's size and modification time, because the server gave none.
        case substitute = 2
    }

    /// The opaque part, without `W/`, quotes and `-gzip`.
    public let opaque: String
    /// The strength.
    public let strength: Strength

    /// Creates a tag from an opaque part that was parsed before, such as one read from the database.
    public init(opaque: String, strength: Strength) {
        self.opaque = opaque
        self.strength = strength
    }

    /// Parses the tag in an answer's header or property: `"x"`, `W/"x"`, and `x` from servers that omit the quotes.
    /// - Returns: The tag, or nil if the field is empty.
    public init?(field: String) {
        guard let tag = field.withBytes(ETag.init(bytes:)) else { return nil }
        self = tag
    }

    private init?(bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        let blank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
        while let first = rest.first, blank(first) { rest.removeFirst() }
        while let last = rest.last, blank(last) { rest.removeLast() }
        var strength = Strength.strong
        if rest.starts(with: "W/".utf8) || rest.starts(with: "w/".utf8) {
            strength = .weak
            rest = rest.dropFirst(2)
        }
        let quote = UInt8(ascii: "\"")
        if rest.count >= 2, rest.first == quote, rest.last == quote { rest = rest.dropFirst().dropLast() }
        let suffix = "-gzip".utf8
        if rest.count > suffix.count, rest.suffix(suffix.count).elementsEqual(suffix) {
            rest = rest.dropLast(suffix.count)
        }
        guard !rest.isEmpty else { return nil }
        self.init(opaque: String(decoding: rest, as: UTF8.self), strength: strength)
    }

    /// Creates the version of an item for which the server reports no ETag.
    public static func substitute(size: Int64?, lastModified: Timestamp?) -> ETag {
        ETag(opaque: "\(size ?? -1)-\(lastModified?.nanoseconds ?? 0)", strength: .substitute)
    }

    /// Creates the version of an item for which the server reports no ETag, from the date as the server wrote it. A date
    /// that cannot be read, or that is before the first or after the last moment that a timestamp can be, counts as the
    /// text that it is, so that another text is another version.
    public static func substitute(size: Int64?, dateText: String?) -> ETag {
        let time = dateText.flatMap { Timestamp(httpDate: $0) }
        let isExact = time.map { ![.min, .max].contains($0.nanoseconds) } ?? false
        guard let text = dateText, !text.isEmpty, !isExact else { return .substitute(size: size, lastModified: time) }
        let shown = String(decoding: text.utf8.prefix(longestDate), as: UTF8.self)
        return ETag(opaque: "\(size ?? -1)-\(unreadableDate)\(shown)", strength: .substitute)
    }

    /// The number of bytes of an unreadable date that count.
    private static let longestDate = 256
    /// The mark in front of a date that could not be read.
    private static let unreadableDate = "text:"

    /// Whether the tag is made of a date that could not be read, which can only be compared with one from the same
    /// place.
    public var hasUnreadableDate: Bool {
        guard strength == .substitute, let end = opaque.utf8.dropFirst().firstIndex(of: UInt8(ascii: "-")) else {
            return false
        }
        return opaque.utf8[end...].dropFirst().starts(with: Self.unreadableDate.utf8)
    }

    /// Tells whether the tags differ only in the name of a content coding at the end, as `x-br`, `x--gzip` and `x;gzip`
    /// of servers and proxies that compress differ from `x`. That alone does not prove the same version.
    public func differsInCoding(from other: ETag) -> Bool {
        let isServers = strength != .substitute && other.strength != .substitute
        return isServers && Self.withoutCoding(opaque).elementsEqual(Self.withoutCoding(other.opaque))
    }

    private static func withoutCoding(_ opaque: String) -> Substring.UTF8View {
        let rest = opaque.utf8[...]
        // The end of `--gzip` is left out where an ETag is read.
        if rest.count > 1, rest.last == UInt8(ascii: "-") { return rest.dropLast() }
        for coding in ["gzip", "br", "zstd", "deflate"] {
            for mark in ["--", "-", ";"] {
                let suffix = (mark + coding).utf8
                if rest.count > suffix.count, rest.suffix(suffix.count).elementsEqual(suffix) {
                    return rest.dropLast(suffix.count)
                }
            }
        }
        return rest
    }

    /// Tells whether both tags name the same version, by weak comparison.
    public static func == (a: ETag, b: ETag) -> Bool {
        a.opaque.hasSameBytes(as: b.opaque) && (a.strength == .substitute) == (b.strength == .substitute)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(opaque.utf8.count)
        for byte in opaque.utf8 { hasher.combine(byte) }
    }

    /// The field value for `If-Match` and `If-Range`, or nil if the tag is not strong.
    public var precondition: String? { strength == .strong ? "\"\(opaque)\"" : nil }

    public var description: String { opaque }
}
