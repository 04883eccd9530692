import Core
import Model
import Synchronization
import Threads

/// An account of a running host, from its start to its end. May be used on any thread.
final class HostedAccount: Sendable {
    private struct State {
        var config: AccountConfig
        var isStopped = false
        var leaves = false
        var vaultID: String?
        /// Cancels the part of the account's work that a stop ends, while there is one.
        var cancel: (@Sendable () -> Void)?
        var failure: Failure?
    }

    let generation: Generation
    private let state: Mutex<State>
    private let currentPhase = Monitor(AccountPhase.opening)

    /// - Parameters:
    ///   - config: the account in the config.
    ///   - generation: the settings and plugins with which the account runs.
    init(_ config: AccountConfig, in generation: Generation) {
        self.generation = generation
        state = Mutex(State(config: config))
    }

    /// The account in the config. It may be set to an equal one that stands elsewhere in the file.
    var config: AccountConfig {
        get { state.withLock { $0.config } }
        set { state.withLock { $0.config = newValue } }
    }

    var name: String { config.bookmark.name }
    var phase: AccountPhase { currentPhase.with { $0 } }
    /// The id of the account's vault, if this process had the account open.
    var vaultID: String? { state.withLock { $0.vaultID } }
    /// The failure that ended the account; nil if none did.
    var failure: Failure? { state.withLock { $0.failure } }

    func enter(_ phase: AccountPhase) {
        if let host = phase.host { state.withLock { $0.vaultID = host.vaultID } }
        currentPhase.change { $0 = phase }
    }

    /// Goes on in the place of an account that has ended. If it is in the same place, the vault must be the same too.
    func replace(_ other: HostedAccount) {
        guard other.config.bookmark.vault == config.bookmark.vault, let id = other.vaultID else { return }
        state.withLock { $0.vaultID = id }
    }

    func end(_ failure: Failure?) {
        state.withLock { $0.failure = failure }
        enter(.ended)
    }

    /// Waits until the account has ended.
    func untilEnded() async { await currentPhase.wait { $0.hasEnded } }

    /// Waits until the account was opened, waits because it could not be opened, or has ended.
    /// - Throws: `CancellationError` if the task is cancelled.
    func untilOpened() async throws(CancellationError) {
        try await currentPhase.waitUnlessCancelled { !$0.isOpening }
    }

    /// Whether the account is stopped because it is no longer in the config.
    var leaves: Bool { state.withLock { $0.leaves } }

    /// Has the account stop gracefully. Returns at once.
    /// - Parameter leaves: whether the account is no longer in the config.
    func stop(leaves: Bool = false) {
        let cancel = state.withLock { state in
            state.isStopped = true
            state.leaves = leaves
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
