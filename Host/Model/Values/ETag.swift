/// The version of an item's content, as the server tells it.
///
/// ETags are compared weakly (RFC 9110, section 8.8.3.2): servers such as Apache's `mod_dav` give a weak tag within a second
/// of the write and the same tag without `W/` later, and compressing modules append `-gzip`. Both are kept aside, so that
/// equal versions are equal values. Only strong ones may go into `If-Match` and `If-Range`.
public struct ETag: Hashable, Sendable, CustomStringConvertible {
    /// What may be done with a tag.
    public enum Strength: Int, Sendable {
        /// The server vouches for the same bytes.
        case strong = 0
        /// The server vouches for the same meaning alone (`W/"…"`).
        case weak = 1
        /// The server gave none: made of the item's size and modification time.
        case substitute = 2
    }

    /// The opaque part: without `W/`, quotes and `-gzip`.
    public let opaque: String
    public let strength: Strength

    /// An opaque part that was taken apart before, such as one read from the database.
    public init(opaque: String, strength: Strength) {
        self.opaque = opaque
        self.strength = strength
    }

    /// The tag in an answer's header or property: `"x"`, `W/"x"`, and `x` from servers that forget the quotes.
    /// - Returns: nil if there is nothing in it.
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

    /// The version of an item of which the server tells no ETag.
    public static func substitute(size: Int64?, lastModified: Timestamp?) -> ETag {
        ETag(opaque: "\(size ?? -1)-\(lastModified?.nanoseconds ?? 0)", strength: .substitute)
    }

    /// Whether both name the same version, in the weak comparison.
    public static func == (a: ETag, b: ETag) -> Bool {
        a.opaque.hasSameBytes(as: b.opaque) && (a.strength == .substitute) == (b.strength == .substitute)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(opaque.utf8.count)
        for byte in opaque.utf8 { hasher.combine(byte) }
    }

    /// The field value for `If-Match` and `If-Range`; nil unless the tag is strong.
    public var precondition: String? { strength == .strong ? "\"\(opaque)\"" : nil }

    public var description: String { opaque }
}
