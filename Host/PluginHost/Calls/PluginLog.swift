import Logging
import Model
import Synchronization

/// A plugin's lines in the log: its own, and the host's about it. A flood is cut off.
final class PluginLog: Sendable {
    /// What is counted of a plugin's mistakes.
    enum Misuse: String, Sendable, CaseIterable {
        case wrongThread = "calls from a wrong thread"
        case wrongState = "calls at a wrong time"
        case invalidArgument = "invalid arguments"
        case unknownStatus = "unknown statuses"
        case failed = "failed calls"
    }

    private struct State {
        var window: Duration?
        var written = 0
        var dropped = 0
        var misuses: [Misuse: Int] = [:]
    }

    /// This many lines in this time.
    private static let allowance = (lines: 100, time: Duration.seconds(10))

    private let logger: Logger
    private let clock: HostClock
    private let state = Mutex(State())

    init(plugin: PluginID, account: String, logger: Logger, clock: HostClock) {
        var logger = logger
        logger[metadataKey: "plugin"] = "\(plugin)"
        logger[metadataKey: "account"] = "\(account)"
        self.logger = logger
        self.clock = clock
    }

    func write(_ level: Logger.Level, _ message: String) {
        guard logger.logLevel <= level else { return }
        let now = clock.monotonic()
        let (isAllowed, dropped) = state.withLock { state -> (Bool, Int) in
            if let window = state.window, now - window < Self.allowance.time {
                state.written += 1
                if state.written > Self.allowance.lines { state.dropped += 1 }
                return (state.written <= Self.allowance.lines, 0)
            }
            defer { state.dropped = 0 }
            state.window = now
            state.written = 1
            return (true, state.dropped)
        }
        if dropped > 0 { logger.warning("\(dropped) lines were dropped: more than \(Self.allowance.lines) in 10 s") }
        if isAllowed { logger.log(level: level, "\(message)") }
    }

    /// Counts a mistake and names it.
    func note(_ misuse: Misuse, _ message: String) {
        let count = state.withLock { state in
            state.misuses[misuse, default: 0] += 1
            return state.misuses[misuse] ?? 0
        }
        write(.warning, count == 1 ? message : "\(message) (\(misuse.rawValue) so far: \(count))")
    }

    /// The mistakes so far.
    var misuses: [Misuse: Int] { state.withLock(\.misuses) }
}
