import Database
import LocalTree
import Model
import SyncEngine
import Threads

extension AccountHost {
    /// Writes down how the plugins are, now and whenever one failed or broke the rules, until the task is cancelled.
    func keepPluginNotes() async throws {
        while true {
            try await writePluginNotes()
            // One that fails with every item would have it written for every item.
            try await clock.sleep(.seconds(1))
            await state.mistakes.wait()
            try Task.checkCancellation()
        }
    }

    /// Writes down how the plugins are.
    func writePluginNotes() async throws {
        let now = clock.now()
        let notes = await process.pluginReports()
            .filter { $0.reason != nil && $0.state != .found && $0.state != .disabled }
            .map { PluginNote($0, at: now) }
        try await database.write { try $0.meta.set(.pluginNotes, json: notes) }
    }
}
