import Model
import Threads

/// The room for the open files of the accounts that are being opened.
///
/// Where descriptors are used up, what fails next is a matter of chance, and some libraries end the process. So an
/// account is refused, by name, while too few are left. Those that are open keep a part of the limit for their work.
///
///     try await room.enter("home")
///     defer { room.leave() }
final class OpenFileRoom: Sendable {
    /// The number of descriptors that an account takes while it is opened.
    static let account = 32

    private struct State {
        /// The number of accounts that are being opened.
        var entered = 0
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
        let kept = min(limit / 8, 256)
        state.change { $0.left = left() }
        try await state.waitUnlessCancelled { state in
            if state.left - kept >= (state.entered + 1) * Self.account {
                state.entered += 1
                return true
            }
            guard state.entered == 0 else { return false }
            state.refused.insert(account)
            return true
        }
        guard state.change({ $0.refused.remove(account) }) != nil else { return }
        throw Failure(
            .localIO,
            "Of \(limit) open files too few are left to open the account \(account), which takes \(Self.account) beside "
                + "the \(kept) that are kept for the other accounts",
            hint: "Raise the limit: `ulimit -Hn` in the shell of root, or `LimitNOFILE=` in the unit of systemd")
    }

    /// Leaves the room after ``enter(_:)``: what the account took is open now, or was closed again.
    func leave() {
        state.change { state in
            state.entered -= 1
            state.left = left()
        }
    }
}
