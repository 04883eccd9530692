import PluginHost
import Storage

extension PluginQuery {
    /// What stands behind the condition. By one column alone, so that an index that has it at its place needs no sorting.
    var order: String {
        var sql = ""
        if let column = CursorSource.column(of: sort) {
            sql = " ORDER BY items.\(column.sql)\(isDescending ? " DESC" : "")"
        }
        if let limit { sql += " LIMIT \(limit)" }
        return sql
    }
}
