import GRDB
import Testing

@testable import Database

/// Changes rows, whatever the table's checks say of the new values. At least one row must change.
func change(_ sql: String, in tx: Transaction) throws {
    try tx.db.execute(sql: "PRAGMA ignore_check_constraints = 1")
    try tx.db.execute(sql: sql)
    let count = tx.db.changesCount
    #expect(count > 0)
}
