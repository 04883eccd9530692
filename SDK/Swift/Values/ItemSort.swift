/// What items may be sorted by. Text is sorted by its bytes; items without a value come first, or last if descending.
public struct ItemSort: Hashable, Sendable {
    /// As the ABI has it.
    let rawValue: UInt32

    private init(_ field: Int32) { rawValue = UInt32(field) + 1 }

    public static let path = ItemSort(LARDER_FIELD_PATH)
    public static let name = ItemSort(LARDER_FIELD_NAME)
    public static let size = ItemSort(LARDER_FIELD_SIZE)
    public static let lastModified = ItemSort(LARDER_FIELD_LAST_MODIFIED)
    /// For items that are here, with a limit, it costs as little as these are few.
    public static let lastUsed = ItemSort(LARDER_FIELD_LAST_USED)
}
