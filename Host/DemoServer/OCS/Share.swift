/// A share of an item, as a demo server reports it.
public struct Share: Sendable {
    /// The direction of a share.
    public enum Direction: Sendable {
        /// A share that the user made, or received.
        case byMe, withMe
    }

    /// The recipient's decision about the share.
    public enum State: Int, Sendable {
        /// A share that the recipient accepted, has not decided about, or rejected.
        case accepted, pending, rejected
    }

    /// The path of the item in the user's tree.
    public var path: String
    /// Whether the user made or received the share.
    public var direction: Direction
    /// The type of recipient: 0 user, 1 group, 3 link, 4 mail, 6 another server's user, 7 circle, 10 room.
    public var type: Int
    /// The owner of the item; nil for the user.
    public var owner: String?
    /// The user, group or address that the item is shared with; nil for a link.
    public var sharedWith: String?
    /// The sum of the permissions: 1 read, 2 update, 4 create, 8 delete, 16 share.
    public var permissions = 19
    /// The expiration time, such as `2026-12-31 00:00:00`.
    public var expiration: String?
    /// The last part of a link's address.
    public var token: String?
    /// The recipient's decision.
    public var state = State.accepted
    /// JSON, which the answer carries as a text.
    public var attributes: String?
    /// Whether the item can be reached. Listings silently leave out shares of items that cannot be reached.
    public var isAvailable = true

    /// Creates an accepted share.
    public init(
        _ path: String, _ direction: Direction, type: Int = 0, owner: String? = nil, sharedWith: String? = nil,
        token: String? = nil
    ) {
        (self.path, self.direction, self.type) = (path, direction, type)
        (self.owner, self.sharedWith, self.token) = (owner, sharedWith, token)
    }
}
