/// Removals are known by what they are. A migration, once released, is never edited: a change is a new one.
enum Schema010 {
    static let sql = """
        DROP INDEX syncRecords_removals;
        CREATE INDEX syncRecords_removals ON syncRecords (id) WHERE action IN ('removeLocalCopy', 'purge');
        """
}
