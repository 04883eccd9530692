/// The columns and tables that removals awaiting a decision need. A released migration is never edited: every change is
/// a new migration.
enum Schema007 {
    static let sql = """
        -- 1: the wait is for what lies at the record's place to go.
        ALTER TABLE syncRecords ADD COLUMN waitPlace INTEGER;
        CREATE INDEX syncRecords_waitPlace ON syncRecords (waitPlace) WHERE waitPlace IS NOT NULL;

        -- What the guard against mass removal remembers of a day: a row for each minute in which something changed. `known`: how many
        -- items there were at most; null: not counted then. `gone`: how many went without a person's word.
        CREATE TABLE removalMemory (minute INTEGER PRIMARY KEY NOT NULL, known INTEGER, gone INTEGER NOT NULL) STRICT;

        -- An id that is used again is of another item.
        CREATE TRIGGER items_deleted AFTER DELETE ON items BEGIN
          DELETE FROM missingItems WHERE databaseID = OLD.databaseID;
        END;

        -- One issue a folder for all names that cannot be kept, and no longer one a name. A subject was the folder, two slashes, the name.
        INSERT INTO issues (record, code, subject, message, choices, created, failure)
          SELECT NULL, code, folder,
            CASE WHEN count(*) = 1 THEN min(message)
            ELSE count(*) || ' entries of ' || folder || ' cannot be kept here: ' || min(name) || ', …. Rename them on the server' END,
            '[]', min(created), min(failure)
          FROM (
            SELECT code, message, created, failure, substr(subject, instr(subject, '//') + 2) AS name,
              CASE WHEN instr(subject, '//') = 1 THEN '/' ELSE substr(subject, 1, instr(subject, '//') - 1) END AS folder
            FROM issues WHERE code = 'item.refused' AND instr(subject, '//') > 0)
          GROUP BY folder;
        DELETE FROM issues WHERE code = 'item.refused' AND instr(subject, '//') > 0;
        """
}
