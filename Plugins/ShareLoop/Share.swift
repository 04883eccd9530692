import LarderSDK

/// A share, as its record tells of it.
struct Share {
    private let key: String
    private let value: JSON

    init(_ record: Record) throws(PluginError) {
        key = record.key
        value = record.value.isEmpty ? .object([]) : try JSON(parsing: record.value)
    }

    /// Of what is shared, in the account's tree.
    var path: String? { value["path"]?.string }

    /// The id of what the account shares, on a server whose ids tell spaces apart. What is shared with it has another one in its tree.
    var itemID: String? {
        guard value["direction"]?.string == "byMe", let id = value["itemID"]?.string else { return nil }
        return id.utf8.contains(UInt8(ascii: "!")) ? id : nil
    }

    /// Whether it is in the tree: what is shared with the account may wait to be accepted, or was rejected.
    var isAccepted: Bool {
        guard let state = value["state"]?.string else { return true }
        return state == "accepted"
    }

    /// How many listings in a row did not have it.
    var missing: Int64 { value["missing"]?.integer ?? 0 }

    /// Its id on the server, and whether it comes from another one, where ids are counted apart.
    var serverID: (id: String, isRemote: Bool) {
        let isRemote = value["remote"]?.boolean == true
        return (isRemote ? String(key.dropFirst("remote-".count)) : key, isRemote)
    }
}
