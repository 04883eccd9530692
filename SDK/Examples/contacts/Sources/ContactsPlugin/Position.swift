import LarderSDK

/// How far the loop of a book has come. Its text is the loop's event id. The host keeps it, together with what the turn
/// asked for, and only the loop understands it.
struct Position: Equatable {
    /// The server's sync-token. Nil: the server has none, and the book is listed each time.
    var token: String?
    /// The contact up to which a listing is fetched. Nil: all of it is.
    var after: String?

    init(token: String?) { self.token = token }

    /// Reads an event id. Nil: it is of another version of this plugin.
    init?(_ eventID: String) {
        guard let json = try? JSON(parsing: eventID) else { return nil }
        (token, after) = (json["token"]?.string, json["after"]?.string)
    }

    var eventID: String {
        JSON.object(of: ["token": token.map { .string($0) }, "after": after.map { .string($0) }]).text
    }
}
