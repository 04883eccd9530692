import Model

/// What the host heeds of a plugin's settings, as their schema says (`heeded-as`), besides the plugin itself.
public struct HeededSettings: Hashable, Sendable {
    /// How the host heeds a setting.
    enum Kind: String, Hashable, Sendable {
        /// Names of programs whose reading of copies is no use of them: the host alone sees who reads.
        case ignoredReaders = "ignored-readers"
        /// How long event loops wait between two polls: the host alone keeps the time.
        case pollInterval = "poll-interval"

        /// Whether a setting of this kind can be heeded so.
        func suits(_ property: ConfigSchema.Property) -> Bool {
            switch self {
            case .ignoredReaders: property.kind == .array
            case .pollInterval: property.format == .duration
            }
        }
    }

    public var ignoredReaders: [String] = []
    /// At least a second; nil: the plugin does not say.
    public var pollInterval: Duration?

    public init() {}

    /// - Parameter settings: as the plugin gets them.
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
