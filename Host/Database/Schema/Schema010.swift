/// An index of removals by the names of their actions. A released migration is never edited: every change is a new
/// migration.
enum Schema010 {
    static let sql = """
        DROP INDEX syncRecords_removals;
        CREATE INDEX syncRecords_removals ON syncRecords (id) WHERE action IN ('removeLocalCopy', 'purge');
        """
}
