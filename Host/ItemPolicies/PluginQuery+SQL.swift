import PluginHost
import Storage

extension PluginQuery {
    /// What stands behind the condition. An index that has the column at its place leaves to sort only the items that are equal in it,
    /// which come in the order of their paths, so that each run has the same.
    var order: String {
        var sql = ""
        if let column = CursorSource.column(of: sort) {
            sql = " ORDER BY items.\(column.sql)\(isDescending ? " DESC" : "")"
            if column != .path { sql += ", items.path" }
        }
        if let limit { sql += " LIMIT \(limit)" }
        return sql
    }
}
