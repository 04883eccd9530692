/// The tables that the guard against mass removal needs for calendars. A released migration is never edited: every
/// change is a new migration.
enum Schema009 {
    static let sql = """
        -- Records that a loop would have removed, and that wait for a person's word. `loop`: as its issue names it.
        CREATE TABLE heldRecords (
          collection TEXT NOT NULL, key TEXT NOT NULL, loop TEXT NOT NULL, PRIMARY KEY (collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX heldRecords_loop ON heldRecords (loop);

        -- What the guard remembers of a day: a row for each minute in which a collection lost records. `known`: how many it had at most.
        -- `gone`: how many went without a person's word.
        CREATE TABLE recordRemovals (
          collection TEXT NOT NULL, minute INTEGER NOT NULL, known INTEGER NOT NULL, gone INTEGER NOT NULL,
          PRIMARY KEY (collection, minute)
        ) STRICT, WITHOUT ROWID;
        """
}
