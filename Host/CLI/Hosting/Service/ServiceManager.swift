import Glibc

/// The service manager that started this process and wants to hear of it, such as systemd (sd_notify(3)).
struct ServiceManager: Hashable, Sendable {
    let socket: NotifySocket
    /// The longest time between two signs of life; nil if none are wanted.
    let watchdog: Duration?

    /// The manager of this process; nil if there is none.
    ///
    /// The first access takes the manager's variables out of the environment, so that no child of this process writes
    /// to the manager in its place. `main` makes that access before it starts anything.
    static let own: ServiceManager? = {
        let environment = processEnvironment()
        for name in variables { unsetenv(name) }
        return ServiceManager(environment, process: getpid())
    }()

    private static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// Creates the manager that the environment names. Fails if it names none, or an address of an unknown kind.
    /// - Parameter process: this process, which alone sends signs of life if `WATCHDOG_PID` names one.
    init?(_ environment: [String: String], process: pid_t) {
        guard let socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init) else { return nil }
        self.socket = socket
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let interval = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
        watchdog = isMeant && interval > 0 ? .microseconds(interval) : nil
    }
}
