import Logging
import Model
import Synchronization

/// A plugin's lines in the log: its own lines, and the host's lines about the plugin. A flood of lines is cut off.
final class PluginLog: Sendable {
    /// The kinds of mistakes that are counted.
    enum Misuse: String, Sendable, CaseIterable {
        case wrongThread = "calls from a wrong thread"
        case wrongState = "calls at a wrong time"
        case invalidArgument = "invalid arguments"
        case limit = "requests above a limit"
        case unknownStatus = "unknown statuses"
        case failed = "failed calls"
        case harm = "calls that harmed the host"
        /// A request for something impossible. It is no fault of the plugin's.
        case refused = "refused changes of the server"
    }

    private struct State {
        var window: Duration?
        var written = 0
        var dropped = 0
        var misuses: [Misuse: Int] = [:]
        /// The mistakes of the run under way, in the order of their first occurrence; nil if no run is under way.
        var run: [(misuse: Misuse, first: String, count: Int)]?
        /// The last mistake.
        var last: String?
    }

    /// The number of lines that are written within a duration.
    private static let allowance = (lines: 100, time: Duration.seconds(10))

    private let logger: Logger
    private let clock: HostClock
    /// A function that is called after a mistake was counted.
    private let noted: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        plugin: PluginID, account: String, logger: Logger, clock: HostClock, noted: @escaping @Sendable () -> Void = {}
    ) {
        var logger = logger
        logger[metadataKey: "plugin"] = "\(plugin)"
        logger[metadataKey: "account"] = "\(account)"
        self.logger = logger
        self.clock = clock
        self.noted = noted
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
        if dropped > 0 { logger.warning("\(Self.text(dropped: dropped))") }
        if isAllowed { logger.log(level: level, "\(message)") }
    }

    /// Counts a mistake and logs it: at once, or during a run at the run's end together with the others of its kind.
    func note(_ misuse: Misuse, _ message: String) {
        let count = state.withLock { state -> Int? in
            state.misuses[misuse, default: 0] += 1
            guard state.run != nil else {
                state.last = message
                return state.misuses[misuse]
            }
            if let index = state.run?.firstIndex(where: { $0.misuse == misuse }) {
                state.run?[index].count += 1
            } else {
                state.run?.append((misuse, message, 1))
            }
            return nil
        }
        noted()
        guard let count else { return }
        write(.warning, count == 1 ? message : "\(message) (\(misuse.rawValue) so far: \(count))")
    }

    /// Begins a run of calls, whose mistakes are logged together.
    func beginRun() { state.withLock { $0.run = [] } }

    /// Ends the run and logs its mistakes.
    /// - Returns: The mistakes of the run if calls failed; otherwise nil.
    func endRun() -> String? {
        let (mistakes, text) = state.withLock { state in
            let mistakes = state.run.take() ?? []
            let text = mistakes.map { mistake in
                let first = mistake.first
                return mistake.count == 1 ? first : "\(mistake.count) \(mistake.misuse.rawValue), the first: \(first)"
            }.joined(separator: "; ")
            if !mistakes.isEmpty { state.last = text }
            return (mistakes, text)
        }
        if !mistakes.isEmpty {
            write(.warning, text)
            noted()
        }
        tellDropped()
        return mistakes.contains { Self.failures.contains($0.misuse) } ? text : nil
    }

    /// The mistakes after which a run has failed.
    private static let failures: [Misuse] = [.failed, .unknownStatus, .harm]

    /// Ends the lines of an instance.
    func endInstance() { tellDropped() }

    /// Logs how many lines were dropped, if any were since it was last told.
    private func tellDropped() {
        let dropped = state.withLock { state in
            defer { state.dropped = 0 }
            return state.dropped
        }
        if dropped > 0 { logger.warning("\(Self.text(dropped: dropped))") }
    }

    private static func text(dropped: Int) -> String {
        "\(dropped) log lines were dropped: the plugin wrote more than \(allowance.lines) in 10 s"
    }

    /// The numbers of mistakes so far, and the last mistake.
    var mistakes: (counts: [Misuse: Int], last: String?) { state.withLock { ($0.misuses, $0.last) } }
}
