import Database
public import Model
import Vault

/// How a host found a plugin, as it wrote it down for others.
public struct PluginNote: Codable, Hashable, Sendable {
    private var id: String
    private var stateName: String
    /// What was wrong; nil: nothing.
    public var reason: String?
    private var nanoseconds: Int64

    init(_ report: PluginReport, at time: Timestamp) {
        (id, stateName, reason) = (report.id.text, report.state.rawValue, report.reason)
        nanoseconds = time.nanoseconds
    }

    public var plugin: PluginID { PluginID(id) }
    public var state: PluginReport.State? { PluginReport.State(rawValue: stateName) }
    public var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }
}

/// What hosts of one account know of its plugins.
public struct PluginNotes: Hashable, Sendable {
    /// Whether a host is at work for it.
    public var isRunning = false
    /// Those that it has started.
    public var started: Set<PluginID> = []
    /// How it found them, or how the last one did.
    public var notes: [PluginNote] = []

    public init() {}
}

extension MetaKey {
    /// How the running host, or the last one, found the plugins.
    static let pluginNotes = MetaKey("pluginNotes")
}

extension AccountReader {
    /// What the running host knows of the plugins, or the last one knew.
    /// - Throws: As ``issues(limit:)``.
    public func pluginNotes() async throws(Failure) -> PluginNotes {
        var notes = try await read { try $0.pluginNotes() }
        notes.isRunning = Vault.isInUse(at: bookmark.vault)
        if !notes.isRunning { notes.started = [] }
        return notes
    }
}

extension DatabaseReads {
    func pluginNotes() throws -> PluginNotes {
        var notes = PluginNotes()
        let names = try meta.text(.runningPlugins) ?? ""
        notes.started = Set(names.split(separator: "\n").map { PluginID(String($0)) })
        notes.notes = try meta.json([PluginNote].self, .pluginNotes) ?? []
        return notes
    }
}
