/// The source of a value of the config.
enum ConfigSource: Hashable, CustomStringConvertible {
    case builtIn
    /// A place in the config file. Lines and columns count from 1; columns are in Unicode scalars.
    case file(String, line: Int, column: Int)
    case environment(String)
    case flag(String)

    var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let name, let line, let column): "\(name):\(line):\(column)"
        case .environment(let name): name
        case .flag(let name): name
        }
    }
}

/// A value of the config that is not yet decoded, with its source.
struct ConfigValue {
    indirect enum Content {
        /// A single value. It is plain if it is not quoted, so that it may mean `null`, `true` or a number.
        case scalar(String, isPlain: Bool)
        case list([ConfigValue])
        case map([ConfigPair])
    }

    var content: Content
    var source: ConfigSource

    /// Whether the value is `~`, `null` or absent after the key's colon.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The pairs of a map; an absent value is an empty map; nil for any other value.
    var pairs: [ConfigPair]? {
        if case .map(let pairs) = content { return pairs }
        return isNull ? [] : nil
    }

    /// The name of the value's type in a message.
    var kindName: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a single value"
        case .list: "a list"
        case .map: "a map"
        }
    }
}

/// A key of a map with its value.
struct ConfigPair {
    var key: String
    /// The place of the key.
    var source: ConfigSource
    var value: ConfigValue
}

extension [ConfigPair] {
    subscript(key: String) -> ConfigPair? { first { $0.key == key } }
}
