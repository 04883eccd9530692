import Logging
import Model
import Synchronization

/// The log's present level and format. May be used on any thread.
final class LogControl: Sendable {
    private let current: Mutex<LogConfig>

    init(_ config: LogConfig = LogConfig()) { current = Mutex(config) }

    /// Applies to all loggers at once.
    var config: LogConfig {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// A log handler that writes each event as one line to the error output.
struct LineLogHandler: LogHandler {
    let control: LogControl
    let console: Console
    /// The level that was set for this logger alone; nil if none was.
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(_ control: LogControl, console: Console) { (self.control, self.console) = (control, console) }

    init(_ config: LogConfig, console: Console) { self.init(LogControl(config), console: console) }

    var logLevel: Logger.Level {
        get { ownLevel ?? control.config.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let provider = metadataProvider { fields.merge(provider.get()) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        if let error = event.error { fields["error"] = .string("\(error)") }
        console.note(
            line(event.level, event.message.description, fields, at: .now()), as: LinePriority(event.level))
    }

    func line(_ level: Logger.Level, _ message: String, _ fields: Logger.Metadata, at time: Timestamp) -> String {
        let format = control.config.format
        let sorted = fields.mapValues(\.inWords).sorted { $0.key < $1.key }
        switch format {
        case .text, .journal:
            let rest = sorted.map { " \($0.key)=\(Self.word(Text.visible(Self.line($0.value.description))))" }.joined()
            let text = Text.visible(Self.line(message)) + rest
            // The journal has the time and the level of each line.
            return format == .journal ? text : "\(Text.time(time)) \(level.rawValue): \(text)"
        case .json:
            let values = sorted.map { JSONValue.Member(name: $0.key, value: JSONValue($0.value)) }
            return JSONValue.object([
                "time": .time(time), "level": .string(level.rawValue), "message": .string(message),
                "fields": .object(values),
            ]).text
        }
    }

    /// Returns a text of several lines, such as an error with advice, as one line.
    private static func line(_ text: String) -> String {
        guard text.contains(where: \.isNewline) else { return text }
        return text.split(whereSeparator: \.isNewline).joined(separator: "; ")
    }

    /// Returns the text, quoted if it would not read as one word.
    private static func word(_ text: String) -> String {
        let isWord = !text.isEmpty && !text.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == 0x7f }
        return isWord ? text : JSONValue.string(text).text
    }
}

extension Logger.MetadataValue {
    /// The value; for advice, the advice's sentence.
    fileprivate var inWords: Self {
        if case .stringConvertible(let value) = self, let advice = value as? Advice { return .string(advice.sentence) }
        return self
    }
}

extension JSONValue {
    fileprivate init(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .stringConvertible(let value): self = .string(value.description)
        case .array(let values): self = .array(values.map { JSONValue($0) })
        case .dictionary(let values):
            self = .object(values.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: JSONValue($0.value)) })
        }
    }
}
