/// The versions that a person may have of what is not here any more. A released migration is never edited: every change is
/// a new migration.
enum Schema016 {
    static let sql = """
        -- The path that the item had when the person's file was copied from it.
        ALTER TABLE exports ADD COLUMN path TEXT;
        -- The version of the last copy that was here, until the item's version becomes another one by a change of this
        -- account.
        ALTER TABLE items ADD COLUMN formerETag TEXT;
        ALTER TABLE items ADD COLUMN formerETagStrength INTEGER;
        CREATE TRIGGER items_former AFTER UPDATE OF copyETag ON items
        WHEN OLD.copyETag IS NOT NULL AND NEW.copyETag IS NULL BEGIN
          UPDATE items SET formerETag = OLD.copyETag, formerETagStrength = OLD.copyETagStrength
          WHERE databaseID = OLD.databaseID;
        END;
        """
}
