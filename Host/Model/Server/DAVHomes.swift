/// Where a server keeps the calendars or address books of an account, or its files.
public struct DAVHomes: Sendable, Hashable {
    /// A path from the origin's root, percent-encoded in one way; nil: the server has no principals, or it
    /// is about files.
    public var principal: String?
    /// The collections that hold them, in the server's order, as paths with a closing slash. One or more. Where the account's url is
    /// itself a calendar or an address book, it is that collection.
    public var homes: [String]

    public init(principal: String?, homes: [String]) {
        self.principal = principal
        self.homes = homes
    }
}
