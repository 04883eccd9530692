import LocalTree
import Model
import TestSupport

@testable import Core

extension TestClock {
    /// The `poll` setting of an account that scans when the test says so.
    static let poll = Duration.seconds(7777)

    /// Returns a clock on which waiting takes no time: each sleep advances the clock to its own end. Only the waits
    /// between scans last until the test calls for the next scan.
    /// - Parameter patience: the length from which on waits last until the test advances the time; nil if no waits
    ///   do.
    static func account(patience: Duration? = nil) -> TestClock {
        TestClock(aheadOf: .system) { duration in
            if duration == poll { return .untilWoken }
            // The checks of the plugins recur every second, those of the log every nine, those of the tree every half
            // minute, those of the backups every hour, for ever, and progress is told twice a second. Time must not pass
            // by these checks alone.
            let recurring = [
                .seconds(1), AccountHost.logCheck, HostProcess.restCheck, AccountHost.backupCheck,
                AccountHost.progressInterval,
            ]
            if recurring.contains(duration) { return .real }
            if let patience, duration >= patience { return .untilDue }
            return .passes
        }
    }

    /// Waits until a scan is over.
    func untilScanned() async { await untilSleeping(for: Self.poll) }

    /// Starts another scan.
    func scan() { wake(Self.poll) }
}
