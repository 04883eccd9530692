import GRDB

/// A table, or a few that belong together: what can be asked of it in a state of the database, and in a ``Transaction`` what can be done
/// to it. Nobody else writes it.
///
/// A value is valid as long as the state or transaction that it is of.
protocol Table {
    associatedtype Access: DatabaseReads
    var access: Access { get }
}

extension Table {
    var db: GRDB.Database { access.db }
}
