/// A change of copies that may hold the first of two contents with one ETag: they are flagged in `racy` and no longer
/// count as outdated.
enum Schema006 {
    static let sql = """
        UPDATE items SET racy = 3, copyETag = etag
        WHERE cloudStatus = 1 AND copyETag = 'raced:' || etag AND copyETagStrength IS etagStrength;
        """
}
