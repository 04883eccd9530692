/// Wakes one waiting task. A ring while nobody waits is kept; several are one.
public final class Bell: Sendable {
    private let isRung = Monitor(false)

    public init() {}

    /// It may be called on any thread, and never blocks.
    public func ring() { isRung.change { $0 = true } }

    /// Returns after the next ring, or when the task is cancelled.
    public func wait() async {
        do throws(CancellationError) {
            try await isRung.waitUnlessCancelled { isRung in
                defer { isRung = false }
                return isRung
            }
        } catch {}
    }
}
