import LocalTree
import Logging
public import Model
import Synchronization
import Threads
import Vault

extension HostProcess {
    /// Keeps an account running until the task is cancelled. After a failure that may pass, waits and opens the account
    /// again.
    /// - Parameters:
    ///   - bookmark: The account's bookmark.
    ///   - isAlone: Whether the account is the only account of the process. Asked after each failure.
    ///   - known: The id of the account's vault, if this process had the account open before. It is then opened as after
    ///     a failure: this vault must be there.
    ///   - leaves: Whether the account leaves the config. Asked when its run has ended.
    ///   - credentials: Reads the account's secret.
    ///   - atWork: Receives the account after it was opened, and nil when it is about to be closed.
    ///   - waits: Receives the failure when the account begins to wait until it is opened again.
    /// - Throws: A failure that does not pass: the last error of ``open(_:credentials:)`` or ``AccountHost/run()``.
    public nonisolated func keep(
        _ bookmark: Bookmark, isAlone: @autoclosure @Sendable () -> Bool, known: String? = nil,
        leaves: @escaping @Sendable () -> Bool = { false }, credentials: @escaping CredentialsSource,
        atWork: @escaping @Sendable (AccountHost?) -> Void = { _ in },
        waits: @Sendable (Failure) -> Void = { _ in }
    ) async throws(Failure) {
        var restarts = Restarts(isAlone: false, wasOpen: known != nil)
        let trouble = TroubleNote(bookmark, options)
        var known = known
        while !Task.isCancelled {
            // While its disk is not mounted, the vault must not be opened, because opening would create a new vault.
            var (problem, worked, reopens): (Failure?, Duration?, Bool) = (
                known != nil ? await goneVault(bookmark) : nil, nil, false
            )
            if problem == nil {
                (problem, worked, reopens) = await attempt(
                    bookmark, credentials, trouble, leaves, atWork, known: &known)
            }
            guard var failure = problem else {
                if reopens { continue }
                break
            }
            // A vault that is gone is the cause of any other failure. A vault that was never open cannot be gone.
            if known != nil, let gone = await goneVault(bookmark) { failure = gone }
            if Task.isCancelled {
                // A stop while the account was being opened is no failure.
                guard worked != nil else { break }
                throw failure
            }
            restarts.isAlone = isAlone()
            guard case .waits(let pause) = restarts.next(after: failure, worked: worked) else {
                await trouble.end(because: failure, isAlone: restarts.isAlone)
                throw failure
            }
            waits(failure)
            await trouble.begin(because: failure, pause: pause)
            do { try await options.clock.sleep(pause) } catch { break }
        }
        await trouble.clear()
    }

    /// Returns the failure to report if a vault that existed is gone; nil if the vault exists.
    private nonisolated func goneVault(_ bookmark: Bookmark) async -> Failure? {
        let known = options.knownVaults
        return await runBlocking {
            if let away = known?.away(bookmark.vault) { return away }
            guard !Vault.exists(at: bookmark.vault) else { return nil }
            return Failure(
                .localIO, "The vault \(bookmark.vault) no longer exists", hint: "Mount it where it was")
        }
    }

    /// Opens an account and runs it to its end.
    /// - Returns: The error, or nil; how long the account ran, or nil if it could not be opened; and whether the
    ///   account is to be opened again.
    private nonisolated func attempt(
        _ bookmark: Bookmark, _ credentials: @escaping CredentialsSource, _ trouble: TroubleNote,
        _ leaves: @Sendable () -> Bool, _ atWork: @Sendable (AccountHost?) -> Void, known: inout String?
    ) async -> (Failure?, worked: Duration?, reopens: Bool) {
        let clock = options.clock
        let host: AccountHost
        do { host = try await open(bookmark, known: known, credentials: credentials) } catch {
            return (error, nil, false)
        }
        known = host.vault.id
        await trouble.prepare()
        let began = clock.monotonic()
        // Commands that come from now on wait for the run.
        host.work.expectRun()
        atWork(host)
        var failure = await withTaskGroup(of: Event.self) { group in
            group.addTask {
                do throws(Failure) {
                    try await host.run()
                    return .ended(nil)
                } catch {
                    return .ended(error)
                }
            }
            group.addTask {
                await trouble.clear(after: TroubleNote.proof)
                return .proven
            }
            defer { group.cancelAll() }
            while let event = await group.next() {
                if case .ended(let failure) = event { return failure }
            }
            return nil
        }
        let worked = clock.monotonic() - began
        atWork(nil)
        if leaves() {
            do { try await host.logOut() } catch { failure = failure ?? error }
            await forgetPlugins(of: host.bookmark.name)
        }
        do { try await host.close() } catch { failure = failure ?? error }
        return (failure, worked, host.state.reopens)
    }

    private enum Event {
        case ended(Failure?)
        /// The account has run for long enough to count as going on.
        case proven
    }
}

/// A reporter of an account's trouble. It reports, in the log and in the vault, once that the account is in trouble,
/// and once that it goes on.
private final class TroubleNote: Sendable {
    /// The time for which an account must run to count as going on.
    static let proof = Duration.seconds(5)

    private struct State {
        /// The message of the trouble that was reported last.
        var told: String?
        var isPrepared = false
    }

    private let vault: String
    private let clock: HostClock
    private let logger: Logger
    private let words: @Sendable (Advice) -> String
    private let state = Mutex(State())

    init(_ bookmark: Bookmark, _ options: HostOptions) {
        (vault, clock, words) = (bookmark.vault, options.clock, options.words)
        var logger = options.logger
        logger[metadataKey: "account"] = "\(bookmark.name)"
        self.logger = logger
    }

    /// Reserves space for the note in the vault, and clears the note of an earlier host.
    func prepare() async {
        let isFirst = state.withLock { state in
            defer { state.isPrepared = true }
            return !state.isPrepared && state.told == nil
        }
        if isFirst { await write(nil) }
    }

    func begin(because failure: Failure, pause: Duration) async {
        let isNew = state.withLock { state in
            defer { state.told = failure.message }
            return state.told?.hasSameBytes(as: failure.message) != true
        }
        await write(VaultTrouble(message: failure.message, hint: failure.hint.map(words), nextTry: clock.now() + pause))
        let text = "The account waits until this problem is solved: \(failure.message)"
        if isNew { logger.error("\(text)", metadata: failure.hint.map { ["hint": .stringConvertible($0)] }) }
    }

    func clear(after wait: Duration) async {
        guard state.withLock({ $0.told != nil }) else { return }
        do { try await clock.sleep(wait) } catch { return }
        await clear()
    }

    func clear() async {
        guard state.withLock({ $0.told.take() }) != nil else { return }
        await write(nil)
        if !Task.isCancelled { logger.notice("The account continues") }
    }

    /// Reports that the account has ended. If the account is the only one, the process ends too and reports the failure
    /// itself.
    func end(because failure: Failure, isAlone: Bool) async {
        if state.withLock({ $0.told.take() }) != nil { await write(nil) }
        guard !isAlone else { return }
        logger.error(
            "The account has stopped, while the others continue: \(failure.message)",
            metadata: failure.hint.map { ["hint": .stringConvertible($0)] })
    }

    private func write(_ trouble: VaultTrouble?) async {
        await runBlocking { [vault] in
            // Where the vault is not mounted, nothing is written in its place.
            if Vault.exists(at: vault) { _ = Vault.note(trouble, at: vault) }
        }
    }
}
