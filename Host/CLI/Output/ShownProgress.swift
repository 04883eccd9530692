import Core
import Synchronization

/// The line of progress that a command shows while its work goes on, in this process or in another. It may be used from
/// any thread.
final class ShownProgress: Sendable {
    private let console: Console
    private let start = ContinuousClock.now
    private let progress = Mutex(Progress())

    init(_ console: Console) { self.console = console }

    /// Shows the progress on a terminal.
    func show(_ transfer: TransferProgress) {
        guard console.errorsAreTerminal else { return }
        let line = progress.withLock { progress in
            progress.add(Progress.Counts(transfer), at: start.duration(to: .now))
            return progress.line(width: console.width)
        }
        console.showProgress(line)
    }

    /// Removes the line.
    func end() { console.showProgress(nil) }
}
