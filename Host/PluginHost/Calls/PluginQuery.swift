import CLarder

/// Which items a plugin wants to see, and in which order.
public struct PluginQuery: Sendable {
    /// In the condition language; it may be no condition.
    public var condition: String
    /// The fields to fill, as bits of a mask.
    public var fields: UInt64
    /// The number of the field that they are sorted by, one of ``sortable``; nil: in no particular order.
    public var sort: Int32?
    public var isDescending = false
    /// Nil: all.
    public var limit: Int64?

    /// Items without a value come first, or last if descending.
    public static let sortable = [
        LARDER_FIELD_PATH, LARDER_FIELD_NAME, LARDER_FIELD_SIZE, LARDER_FIELD_LAST_MODIFIED, LARDER_FIELD_LAST_USED,
    ]

    /// What a plugin wrote, which may be of an older version.
    init(reading address: UnsafePointer<larder_query>) throws(ServiceError) {
        let query: larder_query
        do throws(Refusal) { query = try larder_query.copy(address) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
        }
        condition = try query.condition.required("the condition")
        fields = query.fields
        try check(flags: query.flags, known: LARDER_QUERY_DESCENDING)
        isDescending = query.flags & LARDER_QUERY_DESCENDING != 0
        if query.limit > 0 { limit = Int64(clamping: query.limit) }
        guard query.sort > 0 else { return }
        guard let field = Self.sortable.first(where: { UInt32($0) == query.sort - 1 }) else {
            throw .unknown("items are not sorted by field \(query.sort - 1)")
        }
        sort = field
    }
}

extension larder_query: SizedTable {
    static var tableName: String { "query" }
    static var firstSize: Int { 32 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}
