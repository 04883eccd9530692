import Model
import Threads

/// The room for the open files of the accounts that are being opened.
///
/// Where descriptors are used up, what fails next is a matter of chance, and libdispatch ends the process: each second it
/// reads in `/proc` what its threads do, and traps if it cannot. So an account is refused, by name, while too few are left
/// for it beside what those that are open take when all of them work at once.
///
///     try await room.enter("home")
///     room.leave("home", isOpen: true)
///     room.close("home")
final class OpenFileRoom: Sendable {
    /// The number of descriptors that an account takes while it is opened.
    static let account = 32
    /// The number of descriptors that an account at rest takes in addition while it works.
    static let work = 15

    private struct State {
        /// The number of accounts that are being opened.
        var entered = 0
        /// The accounts that are open.
        var open: Set<String> = []
        /// The number of descriptors that were left when an account last came or went.
        var left = 0
        /// The accounts that were refused and are not told yet.
        var refused: Set<String> = []
    }

    private let limit: Int
    private let left: @Sendable () -> Int
    private let state = Monitor(State())

    /// Creates a room.
    /// - Parameters:
    ///   - limit: The number of descriptors that the process is allowed.
    ///   - left: Returns the number of descriptors that are left of them.
    init(
        limit: Int = Int(clamping: ProcessSetup.mostOpenFiles),
        left: @escaping @Sendable () -> Int = { ProcessSetup.openFilesLeft }
    ) {
        (self.limit, self.left) = (limit, left)
    }

    /// The number of accounts that wait.
    var waiting: Int { state.waiting }

    /// Waits until there is room for an account, while others that are being opened may leave some.
    /// - Parameter account: The account's name.
    /// - Throws: `.localIO` if there is no room; `CancellationError` if the task is cancelled.
    func enter(_ account: String) async throws {
        let others = min(limit / 8, 256)
        state.change { $0.left = left() }
        try await state.waitUnlessCancelled { state in
            let kept = others + (state.open.count + state.entered) * Self.work
            if state.left - kept >= (state.entered + 1) * Self.account {
                state.entered += 1
                return true
            }
            guard state.entered == 0 else { return false }
            state.refused.insert(account)
            return true
        }
        let (isRefused, open) = state.change { ($0.refused.remove(account) != nil, $0.open.count) }
        guard isRefused else { return }
        let kept = others + open * Self.work
        throw Failure(
            .localIO,
            "Of \(limit) open files too few are left to open the account \(account), which takes \(Self.account) beside "
                + "the \(kept) that are kept for the other accounts",
            hint: HostProcess.limitsHint
                ?? "Raise the limit: `ulimit -Hn` in the shell of root, or `LimitNOFILE=` in the unit of systemd")
    }

    /// Leaves the room after ``enter(_:)``.
    /// - Parameter isOpen: Whether the account is open now; false if what it took was closed again.
    func leave(_ account: String, isOpen: Bool) {
        state.change { state in
            state.entered -= 1
            if isOpen { state.open.insert(account) }
            state.left = left()
        }
    }

    /// Notes that an account that was open is closed.
    func close(_ account: String) { state.change { _ = $0.open.remove(account) } }
}
