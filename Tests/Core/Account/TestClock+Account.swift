import LocalTree
import Model
import TestSupport

@testable import Core

extension TestClock {
    /// What settings say as `poll` for an account that scans when it is told to.
    static let poll = Duration.seconds(7777)

    /// A clock on which waiting takes no time: who sleeps puts it forward. Only the waits between scans last until the next scan is
    /// called for.
    /// - Parameter patience: waits of at least this length last until the time is put forward; nil: none.
    static func account(patience: Duration? = nil) -> TestClock {
        TestClock(aheadOf: .system) { duration in
            if duration == poll { return .untilWoken }
            // The watch over the plugins looks every second, that over the tree every half minute, that over the backups every hour, for
            // ever: time must not pass by that alone.
            if [.seconds(1), TreeWatch.rootCheck, AccountHost.backupCheck].contains(duration) { return .real }
            if let patience, duration >= patience { return .untilDue }
            return .passes
        }
    }

    /// Returns when a scan is over.
    func untilScanned() async { await untilSleeping(for: Self.poll) }

    /// Begins another scan.
    func scan() { wake(Self.poll) }
}
