import Model

/// The state of the host that a service manager is told of.
struct ServiceState: Hashable, Sendable {
    /// The reloads of the config since the start.
    struct Reloads: Hashable, Sendable {
        /// The number of reloads that have begun.
        private(set) var begun = 0
        private(set) var isUnderWay = false
        /// When the last one began, by the clock that stands still while the machine sleeps.
        private(set) var lastBegin = Duration.zero

        mutating func begin(at time: Duration) { (begun, isUnderWay, lastBegin) = (begun + 1, true, time) }
        mutating func end() { isUnderWay = false }
    }

    /// Whether each account has been opened, or waits after a first attempt.
    var isReady = false
    var isStopping = false
    /// One line that says what the host is doing.
    var status = ""
    var reloads = Reloads()
}

/// What a service manager has been told, and so what is to be told next. A value without I/O.
struct ServiceNotices {
    /// The shortest time between two messages that tell nothing but a new status.
    static let statusPause: Duration = .seconds(2)
    /// The longest and the shortest time between two checks of what there is to tell.
    static let pauses = (longest: Duration.seconds(1), shortest: Duration.milliseconds(10))

    /// The longest time between two signs of life; nil if none are wanted.
    let watchdog: Duration?
    private var told = ServiceState()
    private var statusTime: Duration?
    private var signTime: Duration?

    init(watchdog: Duration?) { self.watchdog = watchdog }

    /// Returns the next message, and the notices after it was sent; nil if there is nothing to tell.
    /// - Parameter now: the time of a clock that never jumps.
    func next(_ state: ServiceState, at now: Duration) -> (message: String, after: ServiceNotices)? {
        var after = self
        var lines: [String] = []
        if state.isStopping, !told.isStopping {
            lines.append("STOPPING=1")
            after.told.isStopping = true
        } else if told.isReady, state.reloads.begun > told.reloads.begun, !told.isStopping {
            lines += ["RELOADING=1", "MONOTONIC_USEC=\(state.reloads.lastBegin.nanoseconds / 1000)"]
            // The end of a reload is told as ready, also that of a reload that ended before it was told.
            (after.told.isReady, after.told.reloads) = (false, state.reloads)
        } else if state.isReady, !told.isReady, !told.isStopping, !state.reloads.isUnderWay {
            lines.append("READY=1")
            (after.told.isReady, after.told.reloads) = (true, state.reloads)
        }
        let isDue = !lines.isEmpty || statusTime.map { now - $0 >= Self.statusPause } ?? true
        if isDue, state.status != told.status {
            lines.append("STATUS=\(state.status)")
            (after.told.status, after.statusTime) = (state.status, now)
        }
        if let watchdog, signTime.map({ now - $0 >= watchdog / 2 }) ?? true {
            lines.append("WATCHDOG=1")
            after.signTime = now
        }
        return lines.isEmpty ? nil : (lines.joined(separator: "\n"), after)
    }

    /// Returns how long to wait until the next check.
    func pause(at now: Duration) -> Duration {
        guard let watchdog, let signTime else { return Self.pauses.longest }
        return max(Self.pauses.shortest, min(Self.pauses.longest, signTime + watchdog / 2 - now))
    }
}
