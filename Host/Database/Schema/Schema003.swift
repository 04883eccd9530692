/// The tables that event loops need. A released migration is never edited: every change is a new migration.
enum Schema003 {
    static let sql = """
        -- One row for each event loop, in the order in which they were enabled. Times are nanoseconds since 1970 UTC.
        CREATE TABLE loops (
          position INTEGER PRIMARY KEY NOT NULL,
          kind TEXT NOT NULL,
          id TEXT NOT NULL,
          plugin TEXT NOT NULL,
          isEnabled INTEGER NOT NULL DEFAULT 1,
          -- Up to where it has come; null: it begins anew.
          eventID TEXT,
          lastPoll INTEGER,
          lastResult TEXT,
          lastError TEXT,
          nextPoll INTEGER,
          failures INTEGER NOT NULL DEFAULT 0,
          UNIQUE (kind, id)
        ) STRICT;

        -- What event loops cached. Contents lie elsewhere, so that keys and versions are read without passing over them.
        CREATE TABLE records (
          collection TEXT NOT NULL,
          key TEXT NOT NULL,
          version TEXT NOT NULL,
          -- A JSON object, or empty.
          value TEXT NOT NULL,
          -- Another one for each other content, never used again; null: there is none.
          contentID INTEGER,
          sharedPath TEXT GENERATED ALWAYS AS (
            CASE WHEN collection = 'shares' AND value <> '' THEN value ->> '$.path' END) VIRTUAL,
          PRIMARY KEY (collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX records_sharedPath ON records (sharedPath) WHERE sharedPath IS NOT NULL;

        CREATE TABLE recordContents (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, content BLOB NOT NULL) STRICT;
        CREATE TRIGGER records_removed AFTER DELETE ON records WHEN OLD.contentID IS NOT NULL BEGIN
          DELETE FROM recordContents WHERE id = OLD.contentID;
        END;
        CREATE TRIGGER records_changed AFTER UPDATE OF contentID ON records
        WHEN OLD.contentID IS NOT NULL AND OLD.contentID IS NOT NEW.contentID BEGIN
          DELETE FROM recordContents WHERE id = OLD.contentID;
        END;

        -- The folder of files that each calendar has beside the database.
        CREATE TABLE calendarFolders (
          calendar TEXT PRIMARY KEY NOT NULL,
          name TEXT NOT NULL UNIQUE,
          -- What the name was made from.
          title TEXT NOT NULL,
          -- Its name when a change of it began that may not be complete.
          formerName TEXT
        ) STRICT, WITHOUT ROWID;

        -- The file of each object of a calendar: whose content it holds, and its looks when that was written.
        CREATE TABLE calendarFiles (
          calendar TEXT NOT NULL,
          key TEXT NOT NULL,
          name TEXT NOT NULL,
          contentID INTEGER NOT NULL,
          inode INTEGER NOT NULL,
          size INTEGER NOT NULL,
          modified INTEGER NOT NULL,
          PRIMARY KEY (calendar, key),
          UNIQUE (calendar, name)
        ) STRICT, WITHOUT ROWID;

        -- Records of calendars that changed since the files were written. One that changes again gets another number.
        CREATE TABLE calendarChanges (
          number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          collection TEXT NOT NULL,
          key TEXT NOT NULL,
          UNIQUE (collection, key)
        ) STRICT;
        """
}
