import Core
import Model

/// The scalars of the config that environment variables set. They override the file.
///
/// A variable's name is the key's path in upper case, with `_` for every other character: `LARDER_POLL`,
/// `LARDER_LOG_LEVEL`, `LARDER_PLUGINS_VACUUM_AFTER`. No variable sets a value of an account, because an account that
/// is not in the file has no name.
struct ConfigEnvironment {
    let variables: [String: String]

    private static let keys: [[String]] = [
        ["poll"], ["walk"], ["removal-guard"], ["removal-guard", "share"], ["removal-guard", "items"],
        ["limits", "connections"], ["limits", "downloads"], ["limits", "uploads"], ["limits", "actions"],
        ["limits", "bandwidth", "up"], ["limits", "bandwidth", "down"], ["limits", "slowest"], ["disk", "keep-free"],
        ["shutdown-timeout"], ["log", "level"], ["log", "format"],
    ]

    /// Sets the variables' values in the config.
    /// - Parameter text: the file's text. A variable that the text names is used by the file itself, for a secret or a
    ///   path.
    /// - Returns: a sentence for each variable that seems to be meant for Larder but sets nothing.
    func lay(over root: inout ConfigValue, text: String) -> [String] {
        for key in Self.keys { lay(Self.name(of: key), at: key, over: &root) }
        let inFile = (root.pairs?["plugins"]?.value.pairs ?? []).map(\.key).filter { !PluginsConfig.keys.contains($0) }
        // The longest names come first, so that a plugin whose name begins like another plugin's name gets its own
        // variables.
        let plugins = Set(inFile + firstPartyNames + FirstParty.plugins.map(\.id.text)).sorted {
            ($0.utf8.count, $0) > ($1.utf8.count, $1)
        }
        var taken = Set(Self.keys.map(Self.name) + ["LARDER_CONFIG", "LARDER_ACCOUNT"])
        let known = taken.union(plugins.map { Self.name(of: ["plugins", $0, "enabled"]) })
        for plugin in plugins {
            let prefix = Self.name(of: ["plugins", plugin]) + "_"
            for variable in variables.keys.sorted() where variable.hasPrefix(prefix) && !taken.contains(variable) {
                taken.insert(variable)
                // The file may use the other of the plugin's two names.
                let key = inFile.first { PluginID(shortOrFull: $0) == PluginID(shortOrFull: plugin) } ?? plugin
                let present = root.pairs?["plugins"]?.value.pairs?[key]?.value.pairs ?? []
                let rest = Self.key(String(variable.dropFirst(prefix.count)), among: present)
                lay(variable, at: ["plugins", key] + rest, over: &root)
            }
        }
        return variables.keys.filter {
            $0.hasPrefix("LARDER_") && !$0.hasPrefix(Self.testPrefix) && !taken.contains($0)
        }
        .filter { !text.contains($0) }.sorted()
        .map { variable in
            let meant = nearestName(to: variable, among: known).map { "; did you mean \($0)?" } ?? ""
            return "the environment variable \(variable) sets nothing\(meant)"
        }
    }

    /// The prefix of the variables that are meant for the tests, not for the program.
    private static let testPrefix = "LARDER_TEST_"

    static func name(of key: [String]) -> String {
        "LARDER_" + key.map(mangled).joined(separator: "_")
    }

    private static func mangled(_ text: String) -> String {
        String(text.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// Returns the key that the last part of a variable's name stands for: a key that the file has, else the part in
    /// lower case with `-` for `_`.
    private static func key(_ part: String, among pairs: [ConfigPair]) -> [String] {
        for pair in pairs {
            let name = mangled(pair.key)
            if part == name { return [pair.key] }
            if part.hasPrefix(name + "_"), let inner = pair.value.pairs, !inner.isEmpty {
                return [pair.key] + key(String(part.dropFirst(name.count + 1)), among: inner)
            }
        }
        let written = part.lowercased().replacing("_", with: "-")
        return written.hasPrefix("settings-") ? ["settings", String(written.dropFirst(9))] : [written]
    }

    private func lay(_ variable: String, at key: [String], over root: inout ConfigValue) {
        guard let text = variables[variable], !text.isEmpty else { return }
        root.set(key[...], to: ConfigValue(content: .scalar(text, isPlain: true), source: .environment(variable)))
    }
}

extension ConfigValue {
    /// Sets the value at a path of keys. A single value on the way becomes a map.
    mutating func set(_ key: ArraySlice<String>, to value: ConfigValue) {
        guard let first = key.first else {
            self = value
            return
        }
        var pairs = self.pairs ?? []
        let index =
            pairs.firstIndex { $0.key == first }
            ?? {
                let empty = ConfigValue(content: .scalar("", isPlain: true), source: value.source)
                pairs.append(ConfigPair(key: first, source: value.source, value: empty))
                return pairs.count - 1
            }()
        pairs[index].value.set(key.dropFirst(), to: value)
        content = .map(pairs)
    }
}
