import Core
import Model
import Synchronization
import Threads

/// An account of a running host, from its start to its end. May be used on any thread.
final class HostedAccount: Sendable {
    private struct State {
        var isStopped = false
        /// Cancels the part of the account's work that a stop ends, while there is one.
        var cancel: (@Sendable () -> Void)?
        var failure: Failure?
    }

    let config: AccountConfig
    let process: HostProcess
    private let state = Mutex(State())
    private let currentPhase = Monitor(AccountPhase.opening)

    /// - Parameters:
    ///   - config: the account in the config.
    ///   - process: the settings and plugins with which the account runs.
    init(_ config: AccountConfig, in process: HostProcess) { (self.config, self.process) = (config, process) }

    var name: String { config.bookmark.name }
    var phase: AccountPhase { currentPhase.with { $0 } }
    /// The failure that ended the account; nil if none did.
    var failure: Failure? { state.withLock { $0.failure } }

    func enter(_ phase: AccountPhase) { currentPhase.change { $0 = phase } }

    func end(_ failure: Failure?) {
        state.withLock { $0.failure = failure }
        enter(.ended)
    }

    /// Has the account stop gracefully. Returns at once.
    func stop() {
        let cancel = state.withLock { state in
            state.isStopped = true
            return state.cancel
        }
        cancel?()
    }

    /// Does a part of the account's work that is cancelled when the account is stopped.
    func untilStopped<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await body() }
        let isStopped = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isStopped
        }
        defer { state.withLock { $0.cancel = nil } }
        if isStopped { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
