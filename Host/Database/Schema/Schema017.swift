/// What readers of changes need: when a row came, which rows are gone, and from where on that is known. A released
/// migration is never edited: every change is a new migration.
enum Schema017 {
    static let sql = """
        -- The anchor of the transaction that added the row, or that brought the item back; null: before this schema.
        ALTER TABLE items ADD COLUMN came INTEGER;
        CREATE TRIGGER items_back AFTER UPDATE OF removedAt ON items
        WHEN OLD.removedAt IS NOT NULL AND NEW.removedAt IS NULL BEGIN
          UPDATE items SET came = NEW.anchor WHERE databaseID = NEW.databaseID;
        END;

        -- What is kept of a deleted row for a while. The anchor is that of the transaction that deleted the row, which is
        -- the next one after the last that is stored.
        CREATE TABLE tombstones (
          number INTEGER PRIMARY KEY NOT NULL,
          databaseID INTEGER NOT NULL,
          localID TEXT NOT NULL,
          path TEXT NOT NULL,
          type INTEGER NOT NULL,
          anchor INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX tombstones_anchor ON tombstones (anchor);
        CREATE INDEX tombstones_databaseID ON tombstones (databaseID);
        CREATE TRIGGER items_tombstone AFTER DELETE ON items BEGIN
          INSERT INTO tombstones (databaseID, localID, path, type, anchor)
          VALUES (OLD.databaseID, OLD.localID, OLD.path, OLD.type,
            1 + coalesce((SELECT value FROM meta WHERE key = 'anchor'), 0));
        END;

        -- The number of this course of anchors, which no other database has. It is exact in JSON.
        INSERT INTO meta (key, value) VALUES ('epoch', abs(random() % 281474976710656));
        -- No deletion up to this anchor is known.
        INSERT INTO meta (key, value) SELECT 'tombstoneFloor', value FROM meta WHERE key = 'anchor';
        """
}
