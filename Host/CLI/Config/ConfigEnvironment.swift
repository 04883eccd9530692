import Core
import Model

/// The scalars of the config that environment variables set, laid over the file.
///
/// A variable's name is the key's path in upper case with `_` for all else: `LARDER_POLL`, `LARDER_LOG_LEVEL`,
/// `LARDER_PLUGINS_VACUUM_AFTER`. Accounts are not reached, since one that stands in no file has no name.
struct ConfigEnvironment {
    let variables: [String: String]

    private static let keys: [[String]] = [
        ["poll"], ["walk"], ["removal-guard"], ["removal-guard", "share"], ["removal-guard", "items"],
        ["limits", "connections"], ["limits", "downloads"], ["limits", "uploads"], ["limits", "actions"],
        ["log", "level"], ["log", "format"],
    ]

    /// - Parameter text: the file's text: a variable that is named in it is the file's own, for a secret or a path.
    /// - Returns: what nobody takes among the variables that seem to be meant for Larder, a sentence each.
    func lay(over root: inout ConfigValue, text: String) -> [String] {
        for key in Self.keys { lay(Self.name(of: key), at: key, over: &root) }
        let inFile = (root.pairs?["plugins"]?.value.pairs ?? []).map(\.key).filter { $0 != "paths" }
        // Longest first, so that a plugin whose name begins like another's gets its own variables.
        let plugins = Set(inFile + firstPartyNames + FirstParty.plugins.map(\.id.text)).sorted {
            ($0.utf8.count, $0) > ($1.utf8.count, $1)
        }
        var taken = Set(Self.keys.map(Self.name) + ["LARDER_CONFIG", "LARDER_ACCOUNT"])
        let known = taken.union(plugins.map { Self.name(of: ["plugins", $0, "enabled"]) })
        for plugin in plugins {
            let prefix = Self.name(of: ["plugins", plugin]) + "_"
            for variable in variables.keys.sorted() where variable.hasPrefix(prefix) && !taken.contains(variable) {
                taken.insert(variable)
                // The file may have the other one of its two names.
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

    /// What tests are told by the environment is not the program's business.
    private static let testPrefix = "LARDER_TEST_"

    static func name(of key: [String]) -> String {
        "LARDER_" + key.map(mangled).joined(separator: "_")
    }

    private static func mangled(_ text: String) -> String {
        String(text.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// The key that a variable's last part means: one that the file has, else the part in lower case with `-`.
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
    /// Puts a value at a path of keys; what stands in the way as a single value becomes a map.
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
