extension RecordChange {
    /// The limit for the changes of one turn of a loop together, in bytes: 16 MiB. Longer work is split into several
    /// pages.
    public static let largestTurn = 16 << 20
    /// The limit for a record's value, in bytes.
    public static let largestValue = 1 << 20
    /// The limit for a record's key, in bytes.
    public static let longestKey = 4 << 10

    /// The part of a turn's limit that the change takes, in bytes: its texts, its content and a fixed overhead.
    public var size: Int {
        switch self {
        case .put(let record, let collection):
            Self.overhead + collection.text.utf8.count + record.key.text.utf8.count + record.version.utf8.count
                + record.value.utf8.count + (record.content?.count ?? 0)
        case .remove(let key, let collection): Self.overhead + collection.text.utf8.count + key.text.utf8.count
        }
    }

    private static let overhead = 64
}

extension Record {
    /// The part of a plugin's quota that the record takes, in bytes: its key, version, value and content.
    public var size: Int64 {
        Int64(key.text.utf8.count + version.utf8.count + value.utf8.count + (content?.count ?? 0))
    }
}
