/// The first schema. A released migration is never edited: every change is a new migration.
enum Schema001 {
    static let sql = """
        -- Single values: the vault's id, the anchor, what is known of the server.
        CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value ANY) STRICT, WITHOUT ROWID;

        -- One row for each file and folder of the account. Text is UTF-8, compared byte by byte; times are nanoseconds
        -- since 1970 UTC.
        CREATE TABLE items (
          databaseID INTEGER PRIMARY KEY NOT NULL,
          localID TEXT NOT NULL UNIQUE,
          fileID TEXT,
          path TEXT NOT NULL,
          parentPath TEXT NOT NULL,
          name TEXT NOT NULL,
          type INTEGER NOT NULL CHECK (type IN (0, 1)),
          size INTEGER,
          mimeType TEXT,
          etag TEXT,
          etagStrength INTEGER,
          lastModified INTEGER,
          favorite INTEGER NOT NULL DEFAULT 0,
          owner TEXT,
          permissions TEXT,
          -- A folder's ETag when its children were listed whole; null: they were not.
          listedETag TEXT,
          -- The file changed within a second of its listing: a later scan fetches it once more. 1: its ETag was strong or
          -- missing then; 2: it was weak, and the same text strong settles it.
          racy INTEGER NOT NULL DEFAULT 0,
          removedAt INTEGER,
          removed INTEGER NOT NULL GENERATED ALWAYS AS (removedAt IS NOT NULL) VIRTUAL,
          cloudStatus INTEGER NOT NULL DEFAULT 0 CHECK (cloudStatus BETWEEN 0 AND 3),
          -- The copy: its version, its bytes' SHA-256, and the file's looks when that was recorded.
          copyETag TEXT,
          copyETagStrength INTEGER,
          copyDigest BLOB,
          copyInode INTEGER,
          copySize INTEGER,
          copyModified INTEGER,
          copyChanged INTEGER,
          copyRecorded INTEGER,
          -- 0 current, 1 newer, null without a copy.
          remoteVersion INTEGER GENERATED ALWAYS AS (
            CASE WHEN cloudStatus IN (1, 2) THEN
              CASE WHEN type = 1 OR (copyETag IS etag AND (copyETagStrength IS 2) = (etagStrength IS 2)) THEN 0 ELSE 1 END
            END) VIRTUAL,
          downloadTrigger TEXT,
          formerTrigger TEXT,
          lastUsed INTEGER,
          syncActivity INTEGER NOT NULL DEFAULT 0,
          anchor INTEGER NOT NULL
        ) STRICT;
        -- A path has one item that is not removed. Removed ones are in the index too, so that it serves every search by path.
        CREATE UNIQUE INDEX items_path ON items (path, (CASE WHEN removedAt IS NULL THEN 0 ELSE databaseID END));
        CREATE INDEX items_parentPath ON items (parentPath);
        CREATE INDEX items_fileID ON items (fileID);
        CREATE INDEX items_anchor ON items (anchor);
        CREATE INDEX items_removed ON items (removedAt) WHERE removedAt IS NOT NULL;
        CREATE INDEX items_here ON items (cloudStatus, lastUsed) WHERE cloudStatus <> 0;

        CREATE TABLE policies (
          databaseID INTEGER PRIMARY KEY NOT NULL,
          id TEXT NOT NULL UNIQUE,
          kind TEXT NOT NULL,
          identifier TEXT,
          description TEXT,
          condition TEXT NOT NULL,
          path TEXT,
          localID TEXT,
          removeWhenNone TEXT,
          data BLOB,
          revision INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX policies_kind ON policies (kind);

        -- The journal of the sync engine: what is to be done is here before the first request.
        CREATE TABLE syncRecords (
          id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          action TEXT NOT NULL,
          -- The action's own parameters, JSON.
          parameters TEXT,
          state INTEGER NOT NULL,
          localID TEXT NOT NULL,
          path TEXT NOT NULL,
          reason TEXT NOT NULL,
          key TEXT,
          -- Only as long as the policies of who asked cover the item.
          whileCovered INTEGER NOT NULL DEFAULT 0,
          since INTEGER NOT NULL,
          attempts INTEGER NOT NULL DEFAULT 0,
          -- How often new metadata was waited for.
          rounds INTEGER NOT NULL DEFAULT 0,
          -- The wait condition: until (a time), newVersion (an ETag), issue (an id).
          waitUntil INTEGER,
          waitVersion TEXT,
          waitVersionStrength INTEGER,
          waitIssue INTEGER,
          -- A download that is complete in `incoming/`, before it is put in place: version, digest, size, server's time.
          landingETag TEXT,
          landingETagStrength INTEGER,
          landingDigest BLOB,
          landingSize INTEGER,
          landingModified INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX syncRecords_key ON syncRecords (reason, key) WHERE key IS NOT NULL;
        CREATE INDEX syncRecords_localID ON syncRecords (localID);
        CREATE INDEX syncRecords_state ON syncRecords (state, id);
        CREATE INDEX syncRecords_waitUntil ON syncRecords (waitUntil) WHERE waitUntil IS NOT NULL;

        CREATE TABLE issues (
          id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          record INTEGER,
          code TEXT NOT NULL,
          subject TEXT NOT NULL,
          message TEXT NOT NULL,
          -- JSON: [{"id", "label", "impact"}].
          choices TEXT NOT NULL,
          created INTEGER NOT NULL,
          failure INTEGER NOT NULL,
          UNIQUE (code, subject)
        ) STRICT;
        CREATE INDEX issues_record ON issues (record) WHERE record IS NOT NULL;

        -- Folders that a scan under way has still to list, and the scan's own state, so that a killed scan goes on.
        CREATE TABLE scanJobs (
          path TEXT PRIMARY KEY NOT NULL,
          -- Whether everything below is listed, whatever the ETags say.
          whole INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Moves of the tree that a transaction decided and that are still to be carried out.
        CREATE TABLE treeMoves (
          id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          localID TEXT NOT NULL,
          fromPath TEXT NOT NULL,
          toPath TEXT NOT NULL
        ) STRICT;

        CREATE TABLE pluginValues (
          plugin TEXT NOT NULL,
          key BLOB NOT NULL,
          value BLOB NOT NULL,
          PRIMARY KEY (plugin, key)
        ) STRICT, WITHOUT ROWID;

        -- Libraries that were opened and described in a child process: the same bytes are not tried again.
        CREATE TABLE probedLibraries (
          digest BLOB PRIMARY KEY NOT NULL,
          hostMinor INTEGER NOT NULL,
          -- Null: it described itself; else why it was refused.
          refusal TEXT
        ) STRICT, WITHOUT ROWID;
        """
}
