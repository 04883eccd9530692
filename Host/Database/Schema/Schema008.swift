/// The columns for the digests of the calendars' files that Larder wrote.
enum Schema008 {
    static let sql = """
        -- SHA-256 of what was written, and of what was there before, which is there still until the file is put in place. NULL: written
        -- by an older Larder, which went by a file's looks alone.
        ALTER TABLE calendarFiles ADD COLUMN digest BLOB;
        ALTER TABLE calendarFiles ADD COLUMN formerDigest BLOB;
        """
}
