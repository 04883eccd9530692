public import Logging
import Synchronization

/// A log that keeps its lines, for tests that check them.
public final class CollectedLog: Sendable {
    /// A line of the log.
    public struct Line: Sendable {
        public var level: Logger.Level
        public var message: String
        /// The metadata of the line, including the logger's own.
        public var metadata: [String: String]
    }

    private let all = Mutex<[Line]>([])

    public init() {}

    /// The lines logged so far.
    public var lines: [Line] { all.withLock { $0 } }

    /// The lines as `level: message`, in order.
    public var messages: [String] { lines.map { "\($0.level): \($0.message)" } }

    /// Tells whether a message or its metadata contains a text.
    public func contains(_ part: String) -> Bool {
        lines.contains { line in
            "\(line.level): \(line.message)".contains(part) || line.metadata.contains { "\($0)=\($1)".contains(part) }
        }
    }

    /// A logger that writes to this log.
    public var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ line: Line) { all.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
            log.add(
                Line(level: event.level, message: "\(event.message)", metadata: metadata.mapValues { "\($0)" }))
        }
    }
}
