/// The tables and indexes that item policies need. A released migration is never edited: every change is a new
/// migration.
enum Schema002 {
    static let sql = """
        -- What is here, by its last use. All that the room it takes is counted from is in it, so that counting reads no row.
        DROP INDEX items_here;
        CREATE INDEX items_here ON items (cloudStatus, lastUsed, type, copySize) WHERE cloudStatus <> 0;

        -- Items that were missing in the listing of their folder. They may still turn up elsewhere: the end of the scan decides.
        CREATE TABLE missingItems (databaseID INTEGER PRIMARY KEY NOT NULL) STRICT;

        -- Who needs a copy here. They are the item's, so that they go with its moves, and no scan touches them.
        CREATE TABLE claims (
          id TEXT PRIMARY KEY NOT NULL,
          localID TEXT NOT NULL,
          -- 0 delete, 1 read, 2 write.
          kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
          -- JSON: {}, {"until":ns}, {"process":[pid,"started","boot"]}, {"all":[…]}, {"any":[…]}, {"not":{…}}.
          validity TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX claims_localID ON claims (localID);

        -- Records without a key, which are few: with syncRecords_key all records of a reason are found.
        CREATE INDEX syncRecords_keyless ON syncRecords (reason) WHERE key IS NULL;
        """
}
