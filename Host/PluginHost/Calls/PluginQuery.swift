import CLarder

/// A plugin's request for items: which ones, and in which order.
public struct PluginQuery: Sendable {
    /// The condition in the condition language. The text may be invalid.
    public var condition: String
    /// The fields to fill, as bits of a mask.
    public var fields: UInt64
    /// The number of the field by which the items are sorted, one of ``sortable``; nil for no particular order.
    public var sort: Int32?
    /// Whether the order is descending.
    public var isDescending = false
    /// The largest number of items; nil for all.
    public var limit: Int64?

    /// The fields by which items can be sorted. Items without a value come first, or last in descending order.
    public static let sortable = [
        LARDER_FIELD_PATH, LARDER_FIELD_NAME, LARDER_FIELD_SIZE, LARDER_FIELD_LAST_MODIFIED, LARDER_FIELD_LAST_USED,
    ]

    /// Reads a plugin's query, which may be of an older version.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the query is not valid.
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
            throw .unknown("items cannot be sorted by field \(query.sort - 1)")
        }
        sort = field
    }
}

extension larder_query: SizedTable {
    static var tableName: String { "query" }
    static var firstSize: Int { 32 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}
