import Logging

/// The priority of a line for the journal, as a number that sd-daemon(3) defines.
enum LinePriority: Int, Sendable {
    case critical = 2
    case error
    case warning
    case notice
    case info
    case debug

    init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace, .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }

    /// Returns a line with the priority before it.
    func prefixed(_ line: String) -> String { "<\(rawValue)>\(line)" }
}
