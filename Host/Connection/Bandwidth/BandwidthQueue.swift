import Model
import Threads
import Transfer

/// The transfers of one direction that wait until they may take their next bytes. May be used on any thread.
final class BandwidthQueue: Sendable {
    private struct State: Sendable {
        var share = BandwidthShare()
        /// The requests that are neither granted nor withdrawn.
        var waiting: Set<Int> = []
        var last = 0
        /// The timer for the next grant.
        var timer: Timer?
    }

    private struct Timer: Sendable {
        let due: Duration
        let cancel: @Sendable () -> Void
    }

    private let state = Monitor(State())

    /// The longest time of one timer. A request may be due much later.
    private static let longestTimer: Duration = .seconds(3600)

    /// Sets the limit, which holds at once for the transfers that wait too.
    /// - Parameter limit: The bytes per second; nil sets no limit.
    func setLimit(_ limit: Int64?) {
        state.change { state in
            state.share.limit = limit
            grant(in: &state, at: .uptime)
        }
    }

    /// Waits until a transfer may take bytes.
    /// - Parameters:
    ///   - bytes: The number of bytes.
    ///   - size: The class of the whole file.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func wait(for bytes: Int, of size: SizeClass) async throws(CancellationError) {
        if let number = ask(for: bytes, of: size) { try await untilGranted(number) }
    }

    /// Asks for bytes without waiting.
    /// - Returns: The number of the request, which waits until it is granted or withdrawn; nil if the transfer may take
    ///   the bytes at once.
    func ask(for bytes: Int, of size: SizeClass) -> Int? {
        state.change { state in
            guard state.share.limit != nil, bytes > 0 else { return nil }
            let now = Duration.uptime
            state.last += 1
            let number = state.last
            state.waiting.insert(number)
            state.share.ask(number, for: bytes, of: size, at: now)
            grant(in: &state, at: now)
            return state.waiting.contains(number) ? number : nil
        }
    }

    /// Waits until a request is granted or withdrawn.
    /// - Throws: `CancellationError` as soon as the task is cancelled. The request is withdrawn then.
    func untilGranted(_ number: Int) async throws(CancellationError) {
        do throws(CancellationError) {
            try await state.waitUnlessCancelled { !$0.waiting.contains(number) }
        } catch {
            withdraw(number)
            throw error
        }
    }

    /// Withdraws a request, if it still waits.
    func withdraw(_ number: Int) {
        state.change { state in
            guard state.waiting.remove(number) != nil else { return }
            state.share.withdraw(number)
            grant(in: &state, at: .uptime)
        }
    }

    /// Whether there is a limit.
    var isLimited: Bool { state.with { $0.share.limit != nil } }

    /// The number of requests that wait.
    var waiting: Int { state.with { $0.waiting.count } }

    private func timerFired() {
        state.change { state in
            state.timer = nil
            grant(in: &state, at: .uptime)
        }
    }

    /// Grants what is due, and sets the timer for what is not.
    private func grant(in state: inout State, at now: Duration) {
        for number in state.share.grant(at: now) { state.waiting.remove(number) }
        let due = state.share.due
        guard due != state.timer?.due else { return }
        state.timer?.cancel()
        state.timer = due.map { due in
            let delay = min(due - now, Self.longestTimer)
            return Timer(due: due, cancel: TransferThread.common.schedule(after: delay) { self.timerFired() })
        }
    }
}
