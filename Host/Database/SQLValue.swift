import Model

/// An argument of an SQL statement.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Text in UTF-8, compared byte by byte.
    case text(String)
    case blob([UInt8])

    static func id(_ id: some RowID) -> SQLValue { .integer(id.number) }
    /// Returns the id's number, or null if there is no id.
    static func id(_ id: (some RowID)?) -> SQLValue { id.map { .integer($0.number) } ?? .null }
    /// Returns the number, or null if there is none.
    static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
    /// Returns the text, or null if there is none.
    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    /// Returns nanoseconds since 1970 UTC, or null if there is no time.
    static func time(_ time: Timestamp?) -> SQLValue { optional(time?.nanoseconds) }
    static func path(_ path: ItemPath) -> SQLValue { .text(path.text) }
    /// Returns 1 for true and 0 for false.
    static func flag(_ flag: Bool) -> SQLValue { .integer(flag ? 1 : 0) }
    /// Returns the number that stands for the case.
    static func number(of value: some RawRepresentable<Int>) -> SQLValue { .integer(Int64(value.rawValue)) }
}

extension RawRepresentable<Int> {
    /// The number that stands for the case in a column, as SQL text.
    var sql: String { String(rawValue) }
}
