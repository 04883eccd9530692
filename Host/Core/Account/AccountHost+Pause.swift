import Connection
import Database
import EventLoops
import ItemList
import Logging
import Model
import SyncEngine
import Threads
import Vault

/// The one place that decides whether a running account uses the network.
extension AccountHost {
    /// The account's pause; nil if the account is not paused.
    public var pause: AccountPause? { state.network.with(\.pause) }

    /// The failure of what needs the server while the account is paused; nil if it is not.
    var pauseFailure: Failure? { pause.map { Failure($0) } }

    /// Takes over the pause that an earlier host left, if it is not over.
    func restorePause() async throws {
        let now = clock.now()
        let left = try await database.write { tx -> (AccountPause, Duration?)? in
            guard let pause = try tx.meta.json(AccountPause.self, .pause) else { return nil }
            let left = pause.left(at: now)
            guard left != .zero else {
                try tx.meta.clear(.pause)
                return nil
            }
            return (pause, left)
        }
        state.network.change { [clock] in $0.begin(with: left?.0, left: left?.1, at: clock.monotonic()) }
        if let pause = left?.0 { tell(pause) }
    }

    /// Polls the server and heeds its hints until the task is cancelled. A pause ends both, and everything else that
    /// sends requests. After the pause all begins anew. It also begins anew when the machine has slept.
    func useNetwork() async throws {
        while true {
            try await restWhilePaused()
            let began = state.network.with(\.interruptions)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [self] in try await poll() }
                group.addTask { [self] in await heedHints() }
                group.addTask { [self] in
                    try await state.network.waitUnlessCancelled {
                        $0.isPaused || $0.interruptions != began
                    }
                    stopDownloads()
                }
                defer { group.cancelAll() }
                // The two others end only when they are cancelled or cannot go on.
                try await group.next()
            }
            try Task.checkCancellation()
            await stopRequests()
            if !state.network.with(\.isPaused) { try await setOffline(.connecting) }
        }
    }

    /// Stops downloads at once. Downloads that are under way go on later from where they are.
    private func stopDownloads() {
        connection.isPaused = state.network.with(\.isPaused)
        engine.stopDownloads()
    }

    /// Stops everything that sends requests.
    private func stopRequests() async {
        // A poll that was just connecting may have let downloads start.
        stopDownloads()
        await loops.suspend()
        await connection.closeConnections()
    }

    /// Has everything that sends requests begin anew, since the machine has slept: what the server changed meanwhile is not
    /// known, and the server may have closed connections that still seem to be open.
    /// - Parameter slept: How long it slept.
    func heedSleep(_ slept: Duration) {
        logger.info("The machine slept for \(slept.components.seconds) s")
        state.network.change { $0.interrupt() }
    }

    /// While the account is paused, does what needs no server.
    private func restWhilePaused() async throws {
        while true {
            try Task.checkCancellation()
            guard state.network.with(\.isPaused) else { break }
            state.place.leave()
            await stopRequests()
            try await setOffline()
            try await database.write { try $0.meta.clear(.nextPoll) }
            if let failure = pauseFailure {
                state.polls.change { polls in polls.end(polls.asked, .init(unreached: failure)) }
            }
            state.network.change { $0.hold() }
            try await passPause()
        }
        connection.isPaused = false
    }

    /// Returns when the account is not paused any more. Time passes for the processors meanwhile.
    private func passPause() async throws {
        let interval = PollInterval.next(configured: settings.poll, serverWish: nil)
        while true {
            let network = state.network.with { $0 }
            guard network.isPaused else { return }
            let left = network.end.map { $0 - clock.monotonic() }
            if let left, left <= .zero {
                try await endPause(ifUnchangedSince: network.changes)
                continue
            }
            try await passTime()
            try await withThrowingTaskGroup(of: Void.self) { [clock, state] group in
                group.addTask { try await clock.sleep(min(left ?? interval, interval)) }
                group.addTask {
                    try await state.network.waitUnlessCancelled {
                        $0.changes != network.changes || $0.interruptions != network.interruptions
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Pauses the account, or changes the end of its pause. When the function returns, nothing sends requests any more.
    /// - Parameter length: The length of the pause; nil if it lasts until a person ends it.
    /// - Throws: `.failed` if the account is not kept up to date.
    func beginPause(for length: Duration?) async throws -> AccountPause {
        let pause = try await changePause { use in
            guard use.isKept else {
                throw Failure(
                    .failed, "a single run of the account is in progress, which cannot be paused",
                    hint: "wait until it has ended, or stop it")
            }
            let pause = AccountPause(for: length, at: clock.now())
            let end = length.map { clock.monotonic() + $0 }
            try await database.write { try $0.meta.set(.pause, json: pause) }
            state.network.change { $0.begin(pause, until: end) }
            return pause
        }
        tell(pause)
        try await state.network.waitUnlessCancelled { $0.isHeld || !$0.isPaused }
        return pause
    }

    /// Ends the account's pause. The server is polled at once.
    /// - Returns: Whether the account was paused.
    func resume() async throws -> Bool {
        try await changePause { use in
            try await clearPause()
            return use.isPaused
        }
    }

    private func endPause(ifUnchangedSince changes: Int) async throws {
        try await changePause { use in if use.changes == changes { try await clearPause() } }
    }

    private func clearPause() async throws {
        try await database.write { try $0.meta.clear(.pause) }
        let wasPaused = state.network.change { use in
            defer { use.resume() }
            return use.isPaused
        }
        if wasPaused { logger.notice("The pause is over") }
    }

    /// Changes the pause in the database and in memory, while nobody else does.
    private func changePause<T>(_ change: (NetworkUse) async throws -> T) async throws -> T {
        try await state.isChangingPause.take()
        defer { state.isChangingPause.release() }
        return try await change(state.network.with { $0 })
    }

    private func tell(_ pause: AccountPause) {
        let until = pause.until.map { "until \(Timestamp(seconds: $0.seconds))" } ?? "until it is resumed"
        logger.notice("The account is paused \(until)")
    }
}
