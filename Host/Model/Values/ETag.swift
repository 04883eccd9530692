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
        var rest = field.utf8[...]
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
