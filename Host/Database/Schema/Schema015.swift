/// What is in the folders that are about to be copied. A released migration is never edited: every change is a new
/// migration.
enum Schema015 {
    static let sql = """
        -- The record that is about to copy a folder with the item in it, and the item's path with that folder as the root.
        -- Until the item has an id, no listing has told of it.
        ALTER TABLE items ADD COLUMN copiedBy INTEGER;
        ALTER TABLE items ADD COLUMN copiedPath TEXT;
        CREATE INDEX items_copied ON items (copiedBy, copiedPath) WHERE copiedBy IS NOT NULL AND fileID IS NULL;
        """
}
