/// What readers of the change feed need besides the items: what was noted of other things, and the items in the order in
/// which they came. A released migration is never edited: every change is a new migration.
enum Schema018 {
    static let sql = """
        -- What a transaction changed besides items: a row for each such transaction. The number is that of the row before
        -- and the number of the changes.
        CREATE TABLE changes (
          number INTEGER PRIMARY KEY NOT NULL,
          anchor INTEGER NOT NULL,
          -- JSON: a list of lists, as `temp.noted` has them.
          notes TEXT NOT NULL
        ) STRICT;
        CREATE INDEX changes_anchor ON changes (anchor);
        CREATE INDEX items_came ON items (came) WHERE came IS NOT NULL;
        -- Nothing of this kind is known up to this anchor.
        INSERT OR REPLACE INTO meta (key, value) SELECT 'tombstoneFloor', value FROM meta WHERE key = 'anchor';
        """
}
