/// The manner of Nextcloud beside that of the ownCloud family.
public struct NextcloudManner: Sendable {
    /// The size in bytes of the largest part of an upload that the capabilities name; nil if uploads in parts are not
    /// offered.
    public var largestPart: Int? = 100 << 20
    /// Whether a part whose request was cut off stays, shorter than it was to be.
    public var keepsCutParts = false
    /// Whether the capabilities name `dav.bulkupload`. Whoever uses it is noted in ``TestServer/violations``.
    public var offersBulk = true
    /// The names that are forbidden, in lower case.
    public var names = [".htaccess"]
    /// The names that are forbidden before the first dot, in lower case.
    public var basenames: [String] = []
    /// The characters that names must not have.
    public var characters = ["\\", "/"]
    /// The endings that names must not have, in lower case.
    public var endings = [".filepart", ".part"]
    /// Whether the capabilities list what is forbidden.
    public var listsForbidden = true

    /// Creates the manner.
    public init() {}

    /// Returns the sentence with which a name is refused; nil if it is not.
    func refusal(of name: String) -> String? {
        let lower = name.lowercased()
        let basename = lower.dropFirst().firstIndex(of: ".").map { String(lower[..<$0]) } ?? lower
        if names.contains(lower) { return "\"\(lower)\" is a forbidden file or folder name." }
        if basenames.contains(basename) { return "\"\(basename)\" is a forbidden prefix for file or folder names." }
        if let ending = endings.first(where: { lower.hasSuffix($0) }) {
            return "\"\(ending)\" is a forbidden file type."
        }
        if let character = characters.first(where: { name.contains($0) }) {
            return "\"\(character)\" is not allowed inside a file or folder name."
        }
        return nil
    }
}

extension Manner {
    /// The manner of Nextcloud: uploads in parts and no TUS, forbidden names, an unlimited quota that is told as -3, and
    /// a file without version or id at each name that ends with `.part`.
    public static var nextcloud: Manner {
        var manner = Manner()
        manner.tus = nil
        manner.nextcloud = NextcloudManner()
        return manner
    }
}
