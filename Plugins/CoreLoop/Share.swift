import LarderSDK

/// A share, as OCS describes it.
struct Share {
    enum Direction: String { case byMe, withMe }

    /// The share's id, with a prefix for shares of other servers, whose ids are counted separately.
    let key: String
    let direction: Direction
    let record: Record

    /// Creates a share from an element of a list.
    /// - Parameter tree: The account's tree. Nil: the server keeps no files.
    init(
        _ json: JSON, _ direction: Direction, isRemote: Bool, state: String?, in tree: inout SharedTree?
    ) throws(PluginError) {
        guard let id = json["id"]?.plainText else { throw PluginError(.io, "the server lists a share without an id") }
        key = isRemote ? "remote-\(id)" : id
        self.direction = direction
        func text(_ names: String...) -> JSON? {
            names.lazy.compactMap { json[$0]?.plainText }.first.map { .string($0) }
        }
        let itemID = json["item_source"]?.plainText ?? json["file_source"]?.plainText ?? json["file_id"]?.plainText
        let space = json["space_id"]?.plainText ?? itemID.flatMap(SharedTree.space)
        let isHere = try tree?.has(direction, from: space) ?? true
        // The member of a public link is its hashed password.
        let isLink = json["share_type"]?.wholeNumber == 3
        let value = JSON.object(of: [
            "direction": .string(direction.rawValue),
            "path": isHere ? text("path", "file_target", "mountpoint", "name") : nil,
            "shareType": json["share_type"]?.wholeNumber.map { .integer($0) },
            "owner": text("uid_file_owner", "uid_owner", "owner"),
            "sharedWith": isLink ? nil : text("share_with", "user"),
            "permissions": json["permissions"]?.wholeNumber.map { .integer($0) }, "expiration": text("expiration"),
            "url": text("url"), "state": (state ?? Self.state(json, direction, isRemote)).map { .string($0) },
            "attributes": text("attributes"), "itemID": itemID.map { .string($0) },
            "space": space.map { .string($0) },
            "remote": isRemote ? .boolean(true) : nil,
        ])
        record = Record(key: key, value: value.text)
    }

    /// Returns the state of a share with the account, from ownCloud's number (0 accepted, 1 pending, 2 rejected) or,
    /// for a share of another server, from whether it was accepted.
    private static func state(_ json: JSON, _ direction: Direction, _ isRemote: Bool) -> String? {
        guard direction == .withMe else { return nil }
        if isRemote { return json["accepted"]?.isTrue == false ? "pending" : "accepted" }
        switch json["state"]?.wholeNumber ?? 0 {
        case 1: return "pending"
        case 2: return "rejected"
        default: return "accepted"
        }
    }
}
