import Model

/// An edit that enables or disables one plugin in a config's text and leaves every other byte unchanged.
///
/// The new text is parsed to check the edit: its meaning must be that of the old text with the one value changed.
struct PluginSwitch {
    /// The plugin. Its short name becomes the key if the config does not name the plugin yet.
    let plugin: PluginID
    let isEnabled: Bool
    /// Whether the config is to say that the plugin runs inside the host.
    var isInProcess = false
    /// The library that is added with the plugin if the config does not name the plugin yet.
    var library: String?

    /// The reason why a text is not changed.
    struct EditError: Error {
        var reason: String
    }

    /// The line that a person can add by hand.
    var line: String {
        let library = library.map { ", library: \(JSONValue.string($0).text)" } ?? ""
        let isolation = isInProcess ? ", isolation: in-process" : ""
        return "\(plugin.shortName): { enabled: \(isEnabled)\(library)\(isolation) }"
    }

    /// Returns the new text, which is the same text if nothing has to change.
    /// - Throws: the reason why the text is not changed.
    func apply(to text: String) throws(EditError) -> String {
        let enabled = try applyEnabled(to: text)
        guard isInProcess else { return enabled }
        return try applyIsolation(to: enabled)
    }

    private func applyIsolation(to text: String) throws(EditError) -> String {
        guard let root = ConfigValue(parsing: text),
            let mine = root.pairs?["plugins"]?.value.pairs?.first(where: { isMe($0.key) })
        else { throw EditError(reason: "the file is not YAML, or has a key twice") }
        let wantedValue = PluginSettings.Isolation.inProcess.rawValue
        let edit: TextEdit
        if let isolation = mine.value.pairs?["isolation"] {
            guard case .scalar(let now, _) = isolation.value.content else {
                throw EditError(reason: "the plugin's `isolation` is not a word")
            }
            if now == wantedValue { return text }
            edit = try TextEditor(text).replace(now, of: isolation, with: wantedValue)
        } else {
            edit = try TextEditor(text).insert("isolation: \(wantedValue)", into: mine)
        }
        guard let changed = edit.apply(to: text) else { return text }
        var wanted = root
        wanted.set(
            ["plugins", mine.key, "isolation"],
            to: ConfigValue(content: .scalar(wantedValue, isPlain: true), source: .builtIn))
        guard let found = ConfigValue(parsing: changed), found.meansSame(as: wanted) else {
            throw EditError(reason: "the file is written in a way that leaves no safe place for the change")
        }
        return changed
    }

    private func applyEnabled(to text: String) throws(EditError) -> String {
        guard let root = ConfigValue(parsing: text) else {
            throw EditError(reason: "the file is not YAML, or has a key twice")
        }
        guard let edit = try edit(text, root), let changed = edit.apply(to: text) else { return text }
        var wanted = root
        let known = root.pairs?["plugins"]?.value.pairs?.first { isMe($0.key) }?.key
        let key = known ?? plugin.shortName
        wanted.set(
            ["plugins", key, "enabled"],
            to: ConfigValue(content: .scalar("\(isEnabled)", isPlain: true), source: .builtIn))
        if known == nil, let library {
            wanted.set(
                ["plugins", key, "library"],
                to: ConfigValue(content: .scalar(library, isPlain: false), source: .builtIn))
        }
        if known == nil, isInProcess {
            wanted.set(
                ["plugins", key, "isolation"],
                to: ConfigValue(
                    content: .scalar(PluginSettings.Isolation.inProcess.rawValue, isPlain: true), source: .builtIn))
        }
        guard let found = ConfigValue(parsing: changed), found.meansSame(as: wanted) else {
            throw EditError(reason: "the file is written in a way that leaves no safe place for the change")
        }
        return changed
    }

    private func isMe(_ key: String) -> Bool { PluginID(shortOrFull: key) == plugin }

    /// Returns the edit; nil if the plugin already has the wanted value.
    private func edit(_ text: String, _ root: ConfigValue) throws(EditError) -> TextEdit? {
        let editor = TextEditor(text)
        let entry = line
        guard let plugins = root.pairs?["plugins"] else {
            return try editor.append("plugins: { \(entry) }", orInto: root, block: ["plugins:", "  \(entry)"])
        }
        guard let mine = plugins.value.pairs?.first(where: { isMe($0.key) }) else {
            return try editor.insert(entry, into: plugins)
        }
        guard let enabled = mine.value.pairs?["enabled"] else {
            return try editor.insert("enabled: \(isEnabled)", into: mine)
        }
        guard case .scalar(let now, true) = enabled.value.content, now == "true" || now == "false" else {
            throw EditError(reason: "the plugin's `enabled` is neither true nor false")
        }
        return now == "\(isEnabled)" ? nil : try editor.replace(now, of: enabled, with: "\(isEnabled)")
    }
}

extension ConfigValue {
    /// Parses a text; fails if it is not YAML or has a key twice.
    init?(parsing text: String) {
        var yaml = ConfigYAML(file: "")
        guard let value = yaml.parse(text), yaml.problems.isEmpty else { return nil }
        self = value
    }

    /// Tells whether both values mean the same, whatever their places and the order of their keys.
    func meansSame(as other: ConfigValue) -> Bool {
        switch (content, other.content) {
        case (.scalar(let a, let plainA), .scalar(let b, let plainB)): a.hasSameBytes(as: b) && plainA == plainB
        case (.list(let a), .list(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.meansSame(as: $1) }
        case (.map(let a), .map(let b)):
            a.count == b.count
                && a.allSatisfy { pair in b[pair.key].map { pair.value.meansSame(as: $0.value) } ?? false }
        default: false
        }
    }
}
