import Model

/// An argument of an SQL statement.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// UTF-8, compared byte by byte.
    case text(String)
    case blob([UInt8])

    static func id(_ id: some RowID) -> SQLValue { .integer(id.number) }
    /// Null without an id.
    static func id(_ id: (some RowID)?) -> SQLValue { id.map { .integer($0.number) } ?? .null }
    /// Null without a number.
    static func optional(_ number: Int64?) -> SQLValue { number.map(SQLValue.integer) ?? .null }
    /// Null without a text.
    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    /// Nanoseconds since 1970 UTC; null without a time.
    static func time(_ time: Timestamp?) -> SQLValue { optional(time?.nanoseconds) }
    static func path(_ path: ItemPath) -> SQLValue { .text(path.text) }
    /// 0 or 1.
    static func flag(_ flag: Bool) -> SQLValue { .integer(flag ? 1 : 0) }
    /// The number that stands for a case.
    static func number(of value: some RawRepresentable<Int>) -> SQLValue { .integer(Int64(value.rawValue)) }
}

extension RawRepresentable<Int> {
    /// The number that stands for the case in a column, for a statement's text.
    var sql: String { String(rawValue) }
}
