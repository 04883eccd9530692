/// An index of the removals, which come after downloads in the journal.
enum Schema005 {
    static let sql = """
        -- What needs no server is found past any number of downloads.
        CREATE INDEX syncRecords_removals ON syncRecords (id) WHERE action <> 'download';
        """
}
