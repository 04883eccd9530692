import Model
import Threads

/// The course of an account's work: whether a run is in progress, and how many commands are.
///
/// A command that needs the sync engine, a scan or a loop uses the run's if one is in progress. Otherwise it does the
/// work alone, and a run that is about to begin waits for it.
final class AccountWork: Sendable {
    enum Phase: Sendable {
        /// The account is open, and no run is in progress.
        case idle
        /// A run has begun, or is about to, and compares the rows with the tree before anything else.
        case starting
        case running
        /// The account is about to be closed.
        case closed
    }

    private struct State: Sendable {
        var phase = Phase.idle
        /// The number of runs that have ended.
        var ended = 0
        /// Why the last run could not go on.
        var failure: Failure?
        /// The number of commands in progress.
        var commands = 0
        /// Whether a command works alone.
        var isAlone = false
    }

    private let state = Monitor(State())

    /// Whether no run is in progress or about to begin.
    var isIdle: Bool { state.with { $0.phase == .idle } }

    // MARK: Runs

    /// Notes that a run is about to begin, so that commands wait for it.
    func expectRun() { state.change { if $0.phase == .idle { $0.phase = .starting } } }

    /// Begins a run when no command works alone any more.
    func begin() async {
        await state.wait { state in
            guard !state.isAlone else { return false }
            if state.phase == .idle { state.phase = .starting }
            return true
        }
    }

    /// Notes that the run's parts are at work.
    func began() { state.change { if $0.phase == .starting { $0.phase = .running } } }

    /// Ends the run. Commands that use it end too.
    /// - Parameter failure: Why it cannot go on; nil if it is stopped. It is what such a command reports.
    func end(because failure: Failure? = nil) {
        state.change { state in
            guard state.phase == .starting || state.phase == .running else { return }
            state.ended += 1
            state.failure = failure
            state.phase = .idle
        }
    }

    /// Ends all commands, accepts no more, and returns when none is in progress.
    func close() async {
        state.change { $0.phase = .closed }
        await state.wait { $0.commands == 0 }
    }

    // MARK: Commands

    /// Carries out a command's body. If the run that is in progress ends, or the account is closed, the body is
    /// cancelled.
    /// - Throws: The body's error; the failure of the run if it could not go on; `.failed` if the run was stopped or the
    ///   account closed first.
    func carryOut<T: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> T
    ) async throws(Failure) -> T {
        let ended: Int? = state.change { state in
            guard state.phase != .closed else { return nil }
            state.commands += 1
            return state.ended
        }
        guard let ended else { throw .stopping }
        defer { state.change { $0.commands -= 1 } }
        let result = await withTaskGroup(of: Result<T, Failure>?.self) { [state] group in
            group.addTask {
                do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                // The wait ends when the body has ended, which cancels this task.
                do { try await state.waitUnlessCancelled { $0.phase == .closed || $0.ended != ended } } catch {}
                return nil
            }
            var result: Result<T, Failure>?
            for await one in group {
                if let one { result = one }
                group.cancelAll()
            }
            return result
        }
        if case .success(let value) = result { return value }
        if let reason = state.with({ $0.ended == ended ? nil : $0.failure }) { throw reason }
        guard !state.with({ $0.phase == .closed || $0.ended != ended }) else { throw .stopping }
        guard case .failure(let failure) = result else { throw .stopping }
        throw failure
    }

    /// Carries out the first body while no run is in progress, or the second body during one. Only one command works
    /// alone at a time. While a run begins, the function waits.
    func turn<T: Sendable>(
        alone: () async throws -> T, atWork: () async throws -> T
    ) async throws -> T {
        while true {
            let phase: Phase? = state.change { state in
                switch state.phase {
                case .idle where state.isAlone, .starting: return nil
                case .idle: state.isAlone = true
                case .running, .closed: break
                }
                return state.phase
            }
            switch phase {
            case .idle:
                defer { state.change { $0.isAlone = false } }
                return try await alone()
            case .running: return try await atWork()
            case .closed: throw Failure.stopping
            case .starting, nil:
                try await state.waitUnlessCancelled { state in
                    state.phase != .starting && !(state.phase == .idle && state.isAlone)
                }
            }
        }
    }
}

extension Failure {
    /// The failure of a command whose host stops.
    static let stopping = Failure(
        .failed, "the host stops before the command is done",
        hint: "What is queued stays queued; repeat the command to see its outcome")
}
