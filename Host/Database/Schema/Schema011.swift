/// The columns and the table of actions that change the server. A released migration is never edited: every change is a
/// new migration.
enum Schema011 {
    static let sql = """
        -- The second path of a move or of a copy.
        ALTER TABLE syncRecords ADD COLUMN otherPath TEXT;
        -- Whether a request for the record may have reached the server.
        ALTER TABLE syncRecords ADD COLUMN mayHaveArrived INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX syncRecords_changes ON syncRecords (id)
          WHERE action IN ('createFolder', 'delete', 'move', 'copy', 'setFavorite', 'upload');
        -- The record that is about to delete the item on the server, or a folder above it. The item is removed until then,
        -- and comes back if the record is taken back.
        ALTER TABLE items ADD COLUMN deletedBy INTEGER;
        CREATE INDEX items_deletedBy ON items (deletedBy) WHERE deletedBy IS NOT NULL;

        -- The places on the server that records are about to change. `change`: 0 leaves, 1 arrives, 2 isMarked.
        CREATE TABLE pendingPlaces (
          record INTEGER NOT NULL,
          change INTEGER NOT NULL,
          path TEXT NOT NULL,
          parentPath TEXT NOT NULL,
          PRIMARY KEY (record, change)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pendingPlaces_path ON pendingPlaces (path);
        CREATE INDEX pendingPlaces_parentPath ON pendingPlaces (parentPath);
        """
}
