import Model

/// The settings of a plugin that the host follows too, according to the schema of the settings (`heeded-as`).
public struct HeededSettings: Hashable, Sendable {
    /// The way in which the host follows a setting.
    enum Kind: String, Hashable, Sendable {
        /// The names of programs whose reading of copies does not count as use. Only the host sees who reads.
        case ignoredReaders = "ignored-readers"
        /// The time between two polls of event loops. Only the host measures it.
        case pollInterval = "poll-interval"

        /// Tells whether the host can follow a setting in this way.
        func suits(_ property: ConfigSchema.Property) -> Bool {
            switch self {
            case .ignoredReaders: property.kind == .array && !property.isListOfObjects
            case .pollInterval: property.format == .duration
            }
        }
    }

    /// The names of programs whose reading of copies does not count as use.
    public var ignoredReaders: [String] = []
    /// The time between two polls of event loops, at least 1 s; nil if the settings do not name it.
    public var pollInterval: Duration?

    /// Creates settings without values.
    public init() {}

    /// Takes the settings that the host follows.
    /// - Parameters:
    ///   - schema: The schema of the settings.
    ///   - settings: The settings as the plugin gets them.
    init(_ schema: ConfigSchema, _ settings: JSONValue) {
        for property in schema.properties {
            switch (property.heededAs, settings[property.name]) {
            case (.ignoredReaders, .array(let names)?):
                ignoredReaders += names.compactMap {
                    if case .string(let name) = $0, !name.isEmpty { name } else { nil }
                }
            case (.pollInterval, .integer(let milliseconds)?):
                pollInterval = max(.milliseconds(milliseconds), .seconds(1))
            default: break
            }
        }
    }
}
