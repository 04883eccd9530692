/// The downloads that waited for a person after they had failed. A released migration is never edited: every change is a
/// new migration.
enum Schema014 {
    static let sql = """
        -- They are tried again by themselves: with `waitIssue` and `waitUntil`, a record waits for its next try.
        UPDATE syncRecords SET waitUntil = 0
        WHERE action = 'download' AND waitIssue IN (SELECT id FROM issues WHERE code = 'download.retry');
        """
}
