public import Model

/// The facts about an account's server that are kept, so that the server is not asked for them each time.
public struct KnownServer: Codable, Sendable, Hashable {
    /// The sign, beside `oc:id`, by which a server counts as one of the ownCloud family.
    public enum Evidence: String, Codable, Sendable, Hashable {
        case statusDocument, capabilities, none
    }

    /// The homes of one service.
    struct Homes: Codable, Sendable, Hashable {
        var principal: String?
        /// The paths of the homes; empty if the server does not offer the service.
        var homes: [String]
    }

    /// The url of the account whose server this is.
    private var url: String
    private var username: String?
    private var foundAtNanoseconds: Int64
    /// Whether something has failed since the facts were found, so that they must be found again.
    public var isStale = false

    /// The address of the account's root, as in ``ServerFacts/root``.
    public internal(set) var root: String
    /// The sign by which the server counts as one of the ownCloud family.
    public internal(set) var evidence: Evidence
    /// The product's name.
    public internal(set) var product: String?
    /// The product's version.
    public internal(set) var version: String?
    /// Whether items have `oc:id`.
    public internal(set) var hasFileIDs: Bool
    /// Whether the server keeps files.
    public internal(set) var hasFiles: Bool
    /// The wait between two polls that the server asks for, in milliseconds; 0 if the server names none, nil if it was
    /// not asked.
    var pollWish: Int64?
    /// Whether the server has overwritten something in spite of a condition; nil if it was not seen to.
    public internal(set) var ignoresConditions: Bool?
    /// The names that the server does not take; nil if it was not asked.
    public internal(set) var forbiddenNames: ForbiddenNames?
    /// The homes by service.
    var homes: [String: Homes] = [:]

    init(_ facts: ServerFacts, of bookmark: Bookmark, at time: Timestamp) {
        (url, username, foundAtNanoseconds) = (bookmark.url, bookmark.username, time.nanoseconds)
        (root, evidence, product, version) = (facts.root, facts.evidence, facts.product, facts.version)
        (hasFileIDs, hasFiles) = (facts.hasFileIDs, facts.hasFiles)
    }

    /// Whether the server is of the ownCloud family, as in ``ServerFacts/isOwnCloudFamily``.
    public var isOwnCloudFamily: Bool { evidence != .none && hasFileIDs }

    /// Tells whether the facts are about this account, less than a day old and not stale.
    public func isRecent(for bookmark: Bookmark, now: Timestamp) -> Bool {
        let age = now - Timestamp(nanoseconds: foundAtNanoseconds)
        return isOf(bookmark) && !isStale && age >= .zero && age < .seconds(24 * 3600)
    }

    /// Tells whether the facts are about this account.
    public func isOf(_ bookmark: Bookmark) -> Bool {
        url.hasSameBytes(as: bookmark.url) && username == bookmark.username
    }
}
