/// An argument of an SQL statement.
public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// UTF-8, compared byte by byte.
    case text(String)
    case blob([UInt8])
}

extension RawRepresentable<Int> {
    /// The number that stands for the case in a column, for a statement's text.
    var sql: String { String(rawValue) }
}
