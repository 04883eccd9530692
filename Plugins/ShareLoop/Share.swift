import LarderSDK

/// A share, as its record describes it.
struct Share {
    private let key: String
    private let value: JSON

    init(_ record: Record) throws(PluginError) {
        key = record.key
        value = record.value.isEmpty ? .object([]) : try JSON(parsing: record.value)
    }

    /// The path of the shared item in the account's tree.
    var path: String? { value["path"]?.string }

    /// Whether the account shares the item with others. The ETag of the account's root tells of changes in it.
    var isOwn: Bool { value["direction"]?.string == "byMe" }

    /// Whether the shared item is in the tree. A share with the account may be pending or rejected.
    var isAccepted: Bool {
        guard let state = value["state"]?.string else { return true }
        return state == "accepted"
    }

    /// The number of listings in a row that did not have the share.
    var missing: Int64 { value["missing"]?.integer ?? 0 }

    /// The share's id on the server, and whether it comes from another server. Ids of shares from other servers are
    /// counted separately.
    var serverID: (id: String, isRemote: Bool) {
        let isRemote = value["remote"]?.boolean == true
        return (isRemote ? String(key.dropFirst("remote-".count)) : key, isRemote)
    }
}
