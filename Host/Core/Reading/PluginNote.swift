import Database
public import Model
import PluginHost
import Vault

/// The state in which a host found a plugin, written to the database for other processes.
public struct PluginNote: Codable, Hashable, Sendable {
    private var id: String
    private var stateName: String
    /// The reason why the plugin is not used, or nil.
    public var reason: String?
    private var nanoseconds: Int64

    init(_ report: PluginReport, at time: Timestamp, words: (Advice) -> String) {
        (id, stateName) = (report.id.text, report.state.rawValue)
        reason = report.reason.map { [$0, report.advice.map(words)].compactMap(\.self).joined(separator: "; ") }
        nanoseconds = time.nanoseconds
    }

    /// The plugin's id.
    public var plugin: PluginID { PluginID(id) }
    /// The plugin's state; nil if this version does not know the state's name.
    public var state: PluginReport.State? { PluginReport.State(rawValue: stateName) }
    /// The time of the note.
    public var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }
}

/// The plugins of one account as the account's hosts found them.
public struct PluginNotes: Hashable, Codable, Sendable {
    /// Whether a host runs for the account.
    public var isRunning = false
    /// The plugins that the running host has started.
    public var started: Set<PluginID> = []
    /// The states in which the running host, or the last host, found the plugins.
    public var notes: [PluginNote] = []
    /// The marks of the libraries that the running host has opened, by the plugins' ids.
    private var marks: [String: String]?

    /// Creates empty notes.
    public init() {}

    init(started: Set<PluginID>, notes: [PluginNote], marks: [String: String]) {
        (self.started, self.notes, self.marks) = (started, notes, marks)
    }

    /// Returns what lies where a plugin's library lay when the running host opened it.
    public func onDisk(of plugin: PluginID, library: String) -> PluginReport.OnDisk {
        guard isRunning, let mark = marks?[plugin.text] else { return .same }
        return LibraryMark.onDisk(library, openedWith: mark)
    }

    /// Returns a remark about a plugin's library if it is no longer the one that the running host has opened.
    public func remark(on plugin: PluginID, library: String) -> String? {
        guard isRunning, let mark = marks?[plugin.text] else { return nil }
        return LibraryMark.remark(on: library, openedWith: mark)
    }
}

extension MetaKey {
    /// The marks of the libraries that the running host has opened.
    static let openedLibraries = MetaKey("openedLibraries")
    /// The states in which the running host, or the last host, found the plugins.
    static let pluginNotes = MetaKey("pluginNotes")
}

extension AccountReader {
    /// Returns what the running host, or the last host, noted about the plugins.
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
        let names = try meta.text(.runningPlugins) ?? ""
        return PluginNotes(
            started: Set(names.split(separator: "\n").map { PluginID(String($0)) }),
            notes: try meta.json([PluginNote].self, .pluginNotes) ?? [],
            marks: try meta.json([String: String].self, .openedLibraries) ?? [:])
    }
}
