import Model

/// Rows by their ids, a bit each: rows of a folder mostly have neighbouring ids, so that a million take less than a megabyte.
struct RowSet {
    private var words: [Int64: UInt64] = [:]

    mutating func insert(_ id: ItemRowID) { words[id.number >> 6, default: 0] |= 1 << UInt64(id.number & 63) }

    func contains(_ id: ItemRowID) -> Bool { (words[id.number >> 6] ?? 0) & (1 << UInt64(id.number & 63)) != 0 }

    /// The words of 64 bits that are held.
    var wordCount: Int { words.count }
}
