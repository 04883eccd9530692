import Connection
import EventLoops
import LocalTree
import Logging
import Model
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Polls event loops until nothing is left to fetch, and brings the files of calendars up to date.
    /// - Parameter wanted: The loops to poll; nil polls all.
    /// - Returns: The errors of the loops and of the calendars' files.
    func pollLoops(only wanted: Set<LoopKey>? = nil) async throws -> [Failure] {
        try await failures(of: await loops.runOnce(only: wanted)) { try $0.complete() }
    }

    /// Polls event loops now, beside ``run()``, and brings the files of calendars up to date.
    /// - Parameter wanted: The loops to poll; nil polls all.
    /// - Returns: The errors of the loops and of the calendars' files.
    /// - Throws: The reason why the server cannot be used; `CancellationError` if the task is cancelled. The polls go on
    ///   then.
    func pollLoopsAtWork(only wanted: Set<LoopKey>?) async throws -> [Failure] {
        try await reachAtWork()
        try await state.isPollingLoops.take()
        defer { state.isPollingLoops.release() }
        let failures = await loops.pollNow(only: wanted)
        guard session.isOnline else {
            try Task.checkCancellation()
            throw session.failure
        }
        return try await self.failures(of: failures) { try $0.follow() }
    }

    private func failures(
        of loops: [(loop: LoopKey, failure: Failure)],
        bringingUpToDate write: @escaping @Sendable (CalendarMirror) throws -> [Issue]
    ) async throws -> [Failure] {
        try Task.checkCancellation()
        var all = loops.map { loop, failure in
            Failure(failure.kind, "The loop \(loop): \(failure.message)", hint: failure.hint)
        }
        do {
            tell(try await writeCalendarFiles(write))
        } catch let failure as Failure {
            all.append(failure)
        }
        return all
    }

    /// Writes files of calendars when no other task does.
    private func writeCalendarFiles(
        _ write: @escaping @Sendable (CalendarMirror) throws -> [Issue]
    ) async throws -> [Issue] {
        try await state.isWritingCalendars.take()
        defer { state.isWritingCalendars.release() }
        return try await runBlocking { [vault] in try write(vault.calendars) }
    }

    /// Handles the hints that the server pushes, until the task is cancelled.
    func heedHints() async {
        if !loops.isEmpty {
            for await hints in connection.hints() {
                await loops.hint(hints)
                if hints.contains(.items) { tell { $0.call(for: .everything) } }
            }
        }
        // This function must not return before it is cancelled: the end of any of a run's tasks ends the run.
        let (nothing, end) = AsyncStream<Never>.makeStream()
        defer { end.finish() }
        for await _ in nothing {}
    }

    private func tell(_ kept: [Issue]) { for issue in kept { logger.notice("\(issue.message)") } }

    /// Keeps the files of calendars as the database has them, until the task is cancelled. All files are compared once;
    /// after that, only changes are written.
    func keepCalendarFiles() async throws {
        var isComplete = false
        while true {
            try Task.checkCancellation()
            do {
                let kept = try await writeCalendarFiles { [isComplete] files in
                    if isComplete { try files.follow() } else { try files.complete() }
                }
                tell(kept)
                isComplete = true
                await state.calendars.wait()
            } catch let failure as Failure {
                // Nothing is lost, since the files are copies of what the database holds. The next pass compares all
                // files again and thus handles the files that this pass left.
                isComplete = false
                logger.error("\(failure.message)", metadata: ["hint": .stringConvertible(failure.hint ?? .text(""))])
                try await clock.sleep(.seconds(60))
            }
        }
    }
}
