public import Logging
import Synchronization

/// Keeps what is logged, for tests that look at it.
public final class CollectedLog: Sendable {
    private let lines = Mutex<[String]>([])

    public init() {}

    /// `level: message`, in order.
    public var messages: [String] { lines.withLock { $0 } }

    public func contains(_ part: String) -> Bool { messages.contains { $0.contains(part) } }

    public var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ line: String) { lines.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.add("\(event.level): \(event.message)") }
    }
}
