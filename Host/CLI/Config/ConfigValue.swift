/// Where a value of the config comes from.
enum ConfigSource: Hashable, CustomStringConvertible {
    case builtIn
    /// A place in the config file; both count from 1, columns in Unicode scalars.
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

/// A value of the config, not yet decoded, and where it comes from.
struct ConfigValue {
    indirect enum Content {
        /// Plain: not quoted, so that `null`, `true` and numbers may be meant.
        case scalar(String, isPlain: Bool)
        case list([ConfigValue])
        case map([ConfigPair])
    }

    var content: Content
    var source: ConfigSource

    /// `key:` with nothing behind it, `~` or `null`.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The pairs of a map; an absent value is an empty map.
    var pairs: [ConfigPair]? {
        if case .map(let pairs) = content { return pairs }
        return isNull ? [] : nil
    }

    /// What to call it in a message.
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
    /// Where the key stands.
    var source: ConfigSource
    var value: ConfigValue
}

extension [ConfigPair] {
    subscript(key: String) -> ConfigPair? { first { $0.key == key } }
}
