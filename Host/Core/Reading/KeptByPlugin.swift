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
}
