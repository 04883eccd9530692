public import Model

/// The records that a plugin's loops keep: those of the plugin's own collections, and those that loops of the plugin
/// write in place of, or as, the loops that come with Larder.
extension RecordTable {
    /// The condition of these records. The first argument is the plugin's id.
    private static var isKept: String {
        let loops = "FROM loops WHERE plugin = ?1 AND kind ="
        return """
            (collection = ?1 OR collection >= ?1 || '/' AND collection < ?1 || '0'
              OR collection IN ('calendars', 'shares', 'account') AND EXISTS (SELECT 1 \(loops) 'core')
              OR collection IN (SELECT 'calendars/' || id \(loops) 'calendar')
              OR collection IN (SELECT 'shares/' || id \(loops) 'share')
              OR collection = 'calendars' AND key IN (SELECT id \(loops) 'calendar')
              OR collection = 'shares' AND key IN (SELECT id \(loops) 'share'))
            """
    }

    /// Returns the size in bytes of all records that a plugin's loops keep.
    public func size(keptBy plugin: PluginID) throws -> Int64 {
        try integer("\(RecordSQL.size) WHERE \(Self.isKept)", .text(plugin.text)) ?? 0
    }

    /// Returns the collections in which a plugin's loops keep records, sorted byte by byte.
    public func collections(keptBy plugin: PluginID) throws -> [RecordCollection] {
        try rows(
            "SELECT DISTINCT collection FROM records WHERE \(Self.isKept) ORDER BY collection", [.text(plugin.text)]
        ) { RecordCollection($0.text(0) ?? "") }
    }

    /// Reads the records that a plugin's loops keep in a collection one after the other, by key, byte by byte.
    /// - Parameter body: A function that receives each record and returns false to end early.
    /// - Throws: What `body` throws.
    public func each(
        keptBy plugin: PluginID, in collection: RecordCollection, _ body: (KeptRecord) throws -> Bool
    ) throws {
        let statement = try RawStatement(
            db,
            """
            SELECT key, version, value, NULL, (SELECT length(content) FROM recordContents WHERE id = contentID)
            FROM records WHERE collection = ?2 AND \(Self.isKept) ORDER BY key
            """)
        defer { statement.reset() }
        statement.bind([.text(plugin.text), .text(collection.text)])
        while try statement.step() {
            let kept = KeptRecord(collection: collection, record: Record(statement), contentSize: statement.integer(4))
            guard try body(kept) else { return }
        }
    }
}
