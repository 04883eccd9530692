import GRDB

extension DatabaseReads {
    /// The id of the record that was journalled last, whether or not it is still there; 0 before the first.
    public func lastSyncRecordID() throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'syncRecords'") ?? 0
    }
}
