import Connection
import EventLoops
import Model
import Storage
import SyncEngine

extension AccountHost {
    /// Polls every event loop until nothing is left to fetch, and brings the files of calendars up to date.
    func pollLoops() async throws -> [Failure] {
        let failures = await loops.runOnce()
        try Task.checkCancellation()
        try await writeCalendarFiles()
        return failures.map { loop, failure in
            Failure(failure.kind, "The loop \(loop): \(failure.message)", hint: failure.hint)
        }
    }

    /// Listens to what the server announces, until the task is cancelled.
    func heedHints() async {
        guard !loops.isEmpty else { return }
        for await hints in connection.hints() {
            await loops.hint(hints)
            if hints.contains(.items) { state.looks.ring() }
        }
    }

    /// Writes the files of calendars when they changed, until the task is cancelled.
    func keepCalendarFiles() async throws {
        while true {
            try Task.checkCancellation()
            try await writeCalendarFiles()
            await state.calendars.wait()
        }
    }

    private func writeCalendarFiles() async throws {
        try await blocking { [vault] in try vault.writeCalendarFiles() }
    }
}
