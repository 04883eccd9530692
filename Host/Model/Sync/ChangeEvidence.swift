/// What is known of a change on the server beside its request, so that its effect can be told from what others do. The
/// journal keeps it with the record.
public struct ChangeEvidence: Hashable, Sendable {
    /// What was seen at the places of a change whose effect is not certain yet.
    public struct Observation: Hashable, Sendable {
        /// A digest of what was seen.
        public var digest: String
        /// The time since which nothing else was seen.
        public var since: Timestamp

        /// Creates the facts.
        public init(digest: String, since: Timestamp) { (self.digest, self.since) = (digest, since) }
    }

    /// The version at a path when a person was asked about it.
    public struct SeenVersion: Hashable, Sendable {
        /// The version; nil if nothing was there.
        public var etag: ETag?

        /// Creates the facts.
        public init(_ etag: ETag?) { self.etag = etag }
    }

    /// Whether nothing was at the target just before the last request; nil if there was no request. It is false once
    /// the server has answered that it does not do it: others may have come to the target since.
    public var targetWasFree: Bool?
    /// Whether the server has answered that it has done all, though it does not show that.
    public var wasTaken: Bool?
    /// Whether a person has cancelled the change after a request for it may have reached the server. It is not asked for
    /// again; the server is asked what it has made of it.
    public var isCancelled: Bool?
    /// What was seen last of what is not certain.
    public var observation: Observation?
    /// The version that a person was asked about.
    public var asked: SeenVersion?

    /// Creates evidence of nothing.
    public init() {}

    /// Notes that the server has answered that it does not carry the last request out.
    public mutating func noteDecided() {
        if targetWasFree == true { targetWasFree = false }
        wasTaken = nil
    }
}
