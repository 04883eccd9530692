import Database
public import Model

/// What a plugin keeps in an account.
public struct KeptByPlugin: Hashable, Sendable {
    /// The bytes that its values take.
    public var valueBytes: Int64
    /// The bytes that the records of its loops take.
    public var recordBytes: Int64
    /// The number of policies of its kind, whoever made them.
    public var policies: Int
}

extension AccountReader {
    /// Returns what a plugin keeps in the account.
    /// - Parameters:
    ///   - plugin: The plugin's id.
    ///   - kinds: The kinds of its processor and loops.
    /// - Throws: As ``issues(limit:)``.
    public func kept(by plugin: PluginID, kinds: [String]) async throws(Failure) -> KeptByPlugin {
        try await read { reads in
            KeptByPlugin(
                valueBytes: try reads.plugins.valueSize(of: plugin, key: nil),
                recordBytes: try reads.records.size(keptBy: plugin),
                policies: try kinds.reduce(0) { try $0 + reads.policies.all(kind: PolicyKind($1)).count })
        }
    }

    /// Tells whether a plugin keeps values or records in the account.
    /// - Throws: As ``issues(limit:)``.
    public func keeps(_ plugin: PluginID) async throws(Failure) -> Bool {
        try await read { reads in
            try reads.plugins.valueSize(of: plugin, key: nil) > 0
                || !reads.records.collections(keptBy: plugin).isEmpty
        }
    }

    /// Reads the values of a plugin one after the other, by key, all from one state of the database.
    /// - Parameter body: Receives each value. It is called on a thread of the database and may block.
    /// - Returns: How many values there are, and the bytes that they take.
    /// - Throws: As ``issues(limit:)``. The values that `body` received are then not all.
    public func values(
        of plugin: PluginID, _ body: @escaping @Sendable (KeptValue) -> Void
    ) async throws(Failure) -> KeptTotal {
        try await read { reads in
            var total = KeptTotal()
            try reads.plugins.eachValue(of: plugin) { value in
                body(value)
                total.add(value.size)
                return true
            }
            return total
        }
    }

    /// Reads the records that a plugin's loops keep one after the other, by collection and key, all from one state of
    /// the database.
    /// - Parameters:
    ///   - collection: The collection whose records are read; nil reads those of all.
    ///   - body: Receives each record. It is called on a thread of the database and may block.
    /// - Returns: How many records there are, and the bytes that they take.
    /// - Throws: `.notFound` if the plugin keeps no record in the collection, and as ``issues(limit:)``. The records
    ///   that `body` received are then not all.
    public func records(
        keptBy plugin: PluginID, in collection: RecordCollection?,
        _ body: @escaping @Sendable (KeptRecord) -> Void
    ) async throws(Failure) -> KeptTotal {
        try await read { reads in
            var collections = try reads.records.collections(keptBy: plugin)
            if let collection {
                guard collections.contains(collection) else {
                    throw Failure.noCollection(collection, of: plugin, among: collections)
                }
                collections = [collection]
            }
            var total = KeptTotal()
            for collection in collections {
                try reads.records.each(keptBy: plugin, in: collection) { record in
                    body(record)
                    total.add(record.size)
                    return true
                }
            }
            return total
        }
    }
}

/// How much of one sort a plugin keeps.
public struct KeptTotal: Hashable, Sendable {
    /// The number of values or records.
    public var count = 0
    /// The bytes that they take.
    public var bytes: Int64 = 0

    /// Creates the total of nothing.
    public init() {}

    fileprivate mutating func add(_ size: Int64) {
        count += 1
        bytes += size
    }
}

extension Failure {
    /// The failure of a command that names a collection in which a plugin keeps no records.
    public static func noCollection(
        _ collection: RecordCollection, of plugin: PluginID, among known: [RecordCollection]
    ) -> Failure {
        let names = known.prefix(20).map(\.text).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
        return Failure(
            .notFound, "the plugin \(plugin) keeps no records in a collection `\(collection)`",
            hint: known.isEmpty ? "it keeps no records at all" : "its collections are: \(names)")
    }
}
