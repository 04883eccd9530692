/// Wakes one waiting task. A signal sent while nobody waits is kept; several are one.
public final class Signal: Sendable {
    private let isSent = Monitor(false)

    public init() {}

    /// Sends the signal. It may be called on any thread, and never blocks.
    public func send() { isSent.change { $0 = true } }

    /// Returns after the next signal, or when the task is cancelled.
    public func wait() async {
        do throws(CancellationError) {
            try await isSent.waitUnlessCancelled { isSent in
                defer { isSent = false }
                return isSent
            }
        } catch {}
    }
}
