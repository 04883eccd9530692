extension RecordChange {
    /// How much the changes of one turn of a loop may take together, in bytes: 16 MiB. Longer work is several pages.
    public static let largestTurn = 16 << 20
    /// Bytes of a record's value.
    public static let largestValue = 1 << 20
    /// Bytes of a record's key.
    public static let longestKey = 4 << 10

    /// What the change takes of a turn, in bytes: its texts and its content, and something for being one.
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
