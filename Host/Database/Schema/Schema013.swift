/// What is known of a change's effect on the server, and of files that were copied from here. A released migration is
/// never edited: every change is a new migration.
enum Schema013 {
    static let sql = """
        -- What was at the places of a change, and what was seen there since, as JSON.
        ALTER TABLE syncRecords ADD COLUMN evidence TEXT;
        -- The files of a person that were copied from here, and the versions that they had then.
        CREATE TABLE exports (
          file TEXT PRIMARY KEY,
          localID TEXT NOT NULL,
          etag TEXT NOT NULL,
          etagStrength INTEGER NOT NULL,
          noted INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX exports_noted ON exports (noted);
        """
}
