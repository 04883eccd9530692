import Connection
import EventLoops
import LocalTree
import Logging
import Model
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Polls every event loop until nothing is left to fetch, and brings the files of calendars up to date.
    /// - Parameter wanted: only these; nil: all.
    func pollLoops(only wanted: Set<LoopKey>? = nil) async throws -> [Failure] {
        let failures = await loops.runOnce(only: wanted)
        try Task.checkCancellation()
        var all = failures.map { loop, failure in
            Failure(failure.kind, "The loop \(loop): \(failure.message)", hint: failure.hint)
        }
        do {
            tell(try await runBlocking { [vault] in try vault.calendars.complete() })
        } catch let failure as Failure {
            all.append(failure)
        }
        return all
    }

    /// Listens to what the server announces, until the task is cancelled.
    func heedHints() async {
        if !loops.isEmpty {
            for await hints in connection.hints() {
                await loops.hint(hints)
                if hints.contains(.items) { state.scanRequests.send() }
            }
        }
        // What ends by itself ends the run.
        let (nothing, end) = AsyncStream<Never>.makeStream()
        defer { end.finish() }
        for await _ in nothing {}
    }

    private func tell(_ kept: [Issue]) { for issue in kept { logger.notice("\(issue.message)") } }

    /// Keeps the files of calendars as the database has them, until the task is cancelled: all are compared once, then what changes is
    /// written.
    func keepCalendarFiles() async throws {
        var isComplete = false
        while true {
            try Task.checkCancellation()
            do {
                let kept = try await runBlocking { [vault, isComplete] in
                    if isComplete { try vault.calendars.follow() } else { try vault.calendars.complete() }
                }
                tell(kept)
                isComplete = true
                await state.calendars.wait()
            } catch let failure as Failure {
                // Nothing is lost: the files are a copy of what is in the database. What the pass has left is looked at first.
                isComplete = false
                logger.error("\(failure.message)", metadata: ["hint": "\(failure.hint ?? "")"])
                try await clock.sleep(.seconds(60))
            }
        }
    }
}
