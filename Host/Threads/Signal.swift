/// A signal that wakes one waiting task. A signal that is sent while no task waits is kept. Several kept signals count
/// as one.
public final class Signal: Sendable {
    private let isSent = Monitor(false)

    /// Creates a signal that was not sent.
    public init() {}

    /// Sends the signal. May be called on any thread, and never blocks.
    public func send() { isSent.change { $0 = true } }

    /// Takes the signal back.
    /// - Returns: Whether it was sent and no task has received it.
    public func take() -> Bool {
        isSent.change { isSent in
            defer { isSent = false }
            return isSent
        }
    }

    /// Waits until the signal is sent or the task is cancelled.
    /// - Returns: Whether the task has received the signal.
    @discardableResult
    public func wait() async -> Bool {
        do throws(CancellationError) {
            try await isSent.waitUnlessCancelled { isSent in
                defer { isSent = false }
                return isSent
            }
            return true
        } catch {
            return false
        }
    }
}
