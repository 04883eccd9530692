import Database
import LocalTree
import Model
import SyncEngine
import Threads

extension AccountHost {
    /// Writes the state of the plugins to the database, now and whenever a plugin failed or broke the rules, until the
    /// task is cancelled.
    func keepPluginNotes() async throws {
        // Only a host that goes on for long is asked what it has opened, and a command need not read the libraries.
        await process.digestLibraries()
        while true {
            try await writePluginNotes()
            // The pause limits the writing for a plugin that fails with every item.
            try await clock.sleep(.seconds(1))
            await state.mistakes.wait()
            try Task.checkCancellation()
        }
    }

    /// Writes the state of the plugins to the database.
    func writePluginNotes() async throws {
        let now = clock.now()
        let reports = await process.pluginReports()
        let marks = reports.reduce(into: [String: String]()) { marks, report in
            if let mark = report.openedMark { marks[report.id.text] = marks[report.id.text] ?? mark }
        }
        let notes =
            reports
            .filter { $0.reason != nil && $0.state != .found && $0.state != .disabled }
            .map { PluginNote($0, at: now, words: process.options.words) }
        let states = Dictionary(
            reports.filter { $0.state != .found }.map {
                ($0.id.text, $0)
            },
            uniquingKeysWith: { first, _ in first })
        let standings = states.mapValues { PluginStanding(state: $0.state.rawValue, hasReason: $0.reason != nil) }
        try await database.write { transaction in
            let before = try transaction.meta.json([String: PluginStanding].self, .pluginStates) ?? [:]
            for (plugin, report) in states.sorted(by: { $0.key < $1.key }) where before[plugin] != standings[plugin] {
                try transaction.notedChanges.note(report.id, state: report.state.rawValue, reason: report.reason)
            }
            if before != standings { try transaction.meta.set(.pluginStates, json: standings) }
            try transaction.meta.set(.pluginNotes, json: notes)
            try transaction.meta.set(.openedLibraries, json: marks)
        }
    }
}

/// The state of a plugin of which readers of the change feed were told last. The text of a reason may have a count in it, and
/// is no news by itself.
private struct PluginStanding: Codable, Hashable, Sendable {
    var state: String
    var hasReason: Bool
}

extension MetaKey {
    /// The states of the plugins of which readers of the change feed were told last, by the plugins' ids.
    fileprivate static let pluginStates = MetaKey("pluginStandings")
}
