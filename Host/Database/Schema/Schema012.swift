/// The change of modification times. A released migration is never edited: every change is a new migration.
enum Schema012 {
    static let sql = """
        -- The index of the records that change the server, with `setModificationTime` among them. `pendingPlaces.change`
        -- may be 3 now: isDated.
        DROP INDEX syncRecords_changes;
        CREATE INDEX syncRecords_changes ON syncRecords (id)
          WHERE action IN ('createFolder', 'delete', 'move', 'copy', 'setFavorite', 'setModificationTime', 'upload');
        """
}
