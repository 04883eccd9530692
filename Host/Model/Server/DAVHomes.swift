/// The collections of a server that contain an account's calendars, address books or files.
public struct DAVHomes: Sendable, Hashable {
    /// The principal's path from the origin's root, percent-encoded in one way. Nil if the server has no principals, or
    /// if the collections contain files.
    public var principal: String?
    /// The paths of the collections, in the server's order, each with a closing slash. There is at least one. If the
    /// account's URL is itself a calendar or an address book, that collection is the only path.
    public var homes: [String]

    /// Creates the homes.
    public init(principal: String?, homes: [String]) {
        self.principal = principal
        self.homes = homes
    }
}
