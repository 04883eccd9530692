/// A share of an item, as a demo server tells of it.
public struct Share: Sendable {
    public enum Direction: Sendable {
        case byMe, withMe
    }

    /// What the one that it is shared with made of it.
    public enum State: Int, Sendable {
        case accepted, pending, rejected
    }

    /// Where the item is in the user's tree.
    public var path: String
    public var direction: Direction
    /// 0 user, 1 group, 3 link, 4 mail, 6 another server's user, 7 circle, 10 room.
    public var type: Int
    /// Whose item it is; nil for the user's own.
    public var owner: String?
    /// The user, group or address that it is shared with; nil for a link.
    public var sharedWith: String?
    /// 1 read, 2 update, 4 create, 8 delete, 16 share.
    public var permissions = 19
    /// `2026-12-31 00:00:00`.
    public var expiration: String?
    /// The last part of a link's address.
    public var token: String?
    public var state = State.accepted
    /// JSON, as a text in the answer.
    public var attributes: String?
    /// Whether the item can be reached; listings leave the others out without saying so.
    public var isAvailable = true

    public init(
        _ path: String, _ direction: Direction, type: Int = 0, owner: String? = nil, sharedWith: String? = nil,
        token: String? = nil
    ) {
        (self.path, self.direction, self.type) = (path, direction, type)
        (self.owner, self.sharedWith, self.token) = (owner, sharedWith, token)
    }
}
