import Database
import Model

/// A set of row ids, with one bit for each id. The rows of a folder mostly have neighbouring ids, so a million rows
/// take less than a megabyte.
struct RowSet {
    private var words: [Int64: UInt64] = [:]

    mutating func insert(_ id: ItemRowID) { words[id.number >> 6, default: 0] |= 1 << UInt64(id.number & 63) }

    func contains(_ id: ItemRowID) -> Bool { (words[id.number >> 6] ?? 0) & (1 << UInt64(id.number & 63)) != 0 }

    /// The number of 64-bit words in the set.
    var wordCount: Int { words.count }
}
