public import Model

/// What was found out about an account's server, kept so that it is not asked for each time.
public struct KnownServer: Codable, Sendable, Hashable {
    /// By what a server is taken for one of the ownCloud family, beside `oc:id`.
    public enum Evidence: String, Codable, Sendable, Hashable {
        case statusDocument, capabilities, none
    }

    struct Homes: Codable, Sendable, Hashable {
        var principal: String?
        /// None: the server does not offer the service.
        var homes: [String]
    }

    /// The account for which it was found out.
    private var url: String
    private var username: String?
    private var foundAtNanoseconds: Int64
    /// Something failed since: it is found out anew.
    public var isStale = false

    /// As ``ServerFacts/root``.
    public internal(set) var root: String
    public internal(set) var evidence: Evidence
    public internal(set) var product: String?
    public internal(set) var version: String?
    public internal(set) var hasFileIDs: Bool
    public internal(set) var hasFiles: Bool
    /// In milliseconds; 0: none. Nil: it was not asked for.
    var pollWish: Int64?
    /// By service.
    var homes: [String: Homes] = [:]

    init(_ facts: ServerFacts, of bookmark: Bookmark, at time: Timestamp) {
        (url, username, foundAtNanoseconds) = (bookmark.url, bookmark.username, time.nanoseconds)
        (root, evidence, product, version) = (facts.root, facts.evidence, facts.product, facts.version)
        (hasFileIDs, hasFiles) = (facts.hasFileIDs, facts.hasFiles)
    }

    public var isOwnCloudFamily: Bool { evidence != .none && hasFileIDs }

    /// Whether it was found out for this account, and not more than a day ago.
    public func isRecent(for bookmark: Bookmark, now: Timestamp) -> Bool {
        let age = now - Timestamp(nanoseconds: foundAtNanoseconds)
        return isOf(bookmark) && !isStale && age >= .zero && age < .seconds(24 * 3600)
    }

    /// Whether it was found out for this account.
    public func isOf(_ bookmark: Bookmark) -> Bool {
        url.hasSameBytes(as: bookmark.url) && username == bookmark.username
    }
}
