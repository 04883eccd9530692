import Core
import Model

/// The names in the config of the plugins that come with Larder.
let firstPartyNames = FirstParty.plugins.map(\.name)

/// The `plugins:` part of the config: the folders of libraries, and the settings of each plugin.
struct PluginsConfig {
    var folders: [String] = []
    var plugins: [PluginSettings] = []
    /// The keys of `plugins` that are no plugins' names.
    static let keys = ["paths", "order"]
    /// The keys of a plugin that hold for all accounts.
    static let sharedKeys = ["library", "isolation", "project-quota", "value-quota", "grant", "withhold"]

    init(_ pair: ConfigPair?, in decoding: ConfigDecoding) {
        var map = ConfigMap(pair?.value, at: "plugins", in: decoding)
        folders = Self.folders(map.take("paths"), in: decoding)
        let order = map.take("order")
        var places: [PluginID: ConfigSource] = [:]
        for pair in map.takeRest() {
            let id = PluginID(shortOrFull: pair.key)
            guard pair.key.contains(".") || firstPartyNames.contains(pair.key) else {
                let meant = nearestName(to: pair.key, among: firstPartyNames + Self.keys)
                decoding.refuse(
                    pair.source,
                    "there is no plugin `\(pair.key)`" + (meant.map { "; did you mean `\($0)`?" } ?? "")
                        + " (other plugins' ids have a dot, like org.example.archive)")
                continue
            }
            plugins.append(Self.plugin(id, pair.value, in: decoding))
            if let place = places.updateValue(pair.source, forKey: id) {
                decoding.refuse(
                    pair.source, "the plugin `\(id.shortName)` is given a second time; the first is at \(place)")
                decoding.pluginSettings[id] = nil
            }
        }
        for plugin in FirstParty.plugins where !plugins.contains(where: { $0.id == plugin.id }) {
            let nothing = ConfigValue(content: .map([]), source: .builtIn)
            plugins.append(Self.plugin(plugin.id, nothing, in: decoding))
        }
        rank(order, in: decoding)
    }

    /// Gives the plugins their positions in `plugins.order`.
    private mutating func rank(_ pair: ConfigPair?, in decoding: ConfigDecoding) {
        let keyPath = "plugins.order"
        let names = pair.flatMap { decoding.texts($0, at: keyPath) } ?? []
        decoding.show(keyPath, .strings(names), pair?.value.source ?? .builtIn)
        guard case .list(let values) = pair?.value.content else { return }
        for (position, (name, value)) in zip(names, values).enumerated() {
            guard let index = plugins.firstIndex(where: { $0.id == PluginID(shortOrFull: name) }) else {
                // An id is like another id at most.
                let alike = plugins.map(\.id.shortName).filter { $0.contains(".") == name.contains(".") }
                let meant = nearestName(to: name, among: alike)
                decoding.refuse(
                    value.source,
                    "`\(keyPath)`: the config has no plugin `\(name)`"
                        + (meant.map { "; did you mean `\($0)`?" } ?? ""))
                continue
            }
            guard plugins[index].rank == nil else {
                decoding.refuse(value.source, "`\(keyPath)` names the plugin `\(name)` a second time")
                continue
            }
            plugins[index].rank = position
        }
    }

    private static func folders(_ pair: ConfigPair?, in decoding: ConfigDecoding) -> [String] {
        var folders: [String] = []
        for text in pair.flatMap({ decoding.texts($0, at: "plugins.paths") }) ?? [] {
            do {
                folders.append(try decoding.paths.absolute(text))
            } catch {
                decoding.refuse(pair?.value.source ?? .builtIn, "`plugins.paths`: \(error.message)")
            }
        }
        decoding.show("plugins.paths", .strings(folders), pair?.value.source ?? .builtIn)
        return folders
    }

    private static func plugin(_ id: PluginID, _ value: ConfigValue, in decoding: ConfigDecoding) -> PluginSettings {
        let keyPath = "plugins.\(id.shortName)"
        let isFirstParty = firstPartyNames.contains(id.shortName)
        let problems = decoding.problems.count
        var map = ConfigMap(value, at: keyPath, in: decoding)
        var settings = FirstParty.settings(of: id)
        settings.isEnabled = map.scalar(
            "enabled", or: settings.isEnabled, json: { .bool($0) },
            parse: { text, isPlain throws(Wrong) in
                try ConfigScalar.bool(text, isPlain: isPlain)
            })
        settings.library = map.take("library").flatMap { decoding.path($0, at: keyPath + ".library") }
        let isolation: PluginSettings.Isolation = isFirstParty && settings.library == nil ? .inProcess : .process
        settings.isolation = map.scalar(
            "isolation", or: nil, json: { .string(($0 ?? isolation).rawValue) },
            parse: { text, _ throws(Wrong) in
                PluginSettings.Isolation(rawValue: try ConfigScalar.word(text, of: ["in-process", "process"]))
            })
        settings.projectQuota = map.scalar(
            "project-quota", or: settings.projectQuota, json: { .string(ConfigScalar.writeSize($0)) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.size(text) })
        settings.valueQuota = map.scalar(
            "value-quota", or: settings.valueQuota, json: { .string(ConfigScalar.writeSize($0)) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.size(text) })
        settings.recordQuota = map.scalar(
            "record-quota", or: settings.recordQuota, json: { .string(ConfigScalar.writeSize($0)) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.size(text) })
        settings.grants = grants(map.take("grant"), at: keyPath + ".grant", in: decoding)
        settings.withheld = withheld(map.take("withhold"), at: keyPath + ".withhold", in: decoding)
        let beside = isFirstParty ? map.known : []
        let (own, shownAt) = ownSettings(of: id, &map)
        for shown in own.flatMap({ $0.shown(at: shownAt) }) { decoding.show(shown.key, shown.value, shown.source) }
        if decoding.problems.count == problems {
            decoding.pluginSettings[id] = OwnSettings(
                keyPath: shownAt, pairs: own, source: value.source, beside: beside, shownEnd: decoding.settings.count)
        }
        settings.json = JSONValue(pairs: own).text
        return settings
    }

    /// Takes a plugin's own settings, which the plugin's schema checks, and then refuses what is left. Those of a
    /// first-party plugin stand beside `enabled`.
    /// - Parameter map: the plugin's map, from which the host's settings were taken.
    /// - Returns: the settings and the key path of the map that holds them.
    static func ownSettings(of id: PluginID, _ map: inout ConfigMap) -> (pairs: [ConfigPair], keyPath: String) {
        guard !firstPartyNames.contains(id.shortName) else { return (map.takeRest(), map.keyPath) }
        let pair = map.take("settings")
        let keyPath = map.path(of: "settings")
        if let pair, pair.value.pairs == nil {
            map.decoding.refuse(pair.value.source, "`\(keyPath)` must be a map, not \(pair.value.kindName)")
        }
        map.refuseUnknown()
        return (pair?.value.pairs ?? [], keyPath)
    }
}

extension PluginsConfig {
    /// Decodes what a plugin is granted.
    private static func grants(
        _ pair: ConfigPair?, at keyPath: String, in decoding: ConfigDecoding
    ) -> Set<PluginSettings.Grant> {
        let known = PluginSettings.Grant.allCases.map(\.rawValue)
        let named = names(pair, of: "grant", among: known, at: keyPath, in: decoding)
        return Set(named.compactMap(PluginSettings.Grant.init(rawValue:)))
    }

    /// Decodes the names of the services that are withheld from a plugin.
    private static func withheld(_ pair: ConfigPair?, at keyPath: String, in decoding: ConfigDecoding) -> Set<String> {
        Set(names(pair, of: "service", among: PluginServices.names, at: keyPath, in: decoding))
    }

    private static func names(
        _ pair: ConfigPair?, of kind: String, among known: [String], at keyPath: String, in decoding: ConfigDecoding
    ) -> [String] {
        guard let pair else {
            decoding.show(keyPath, .strings([]), .builtIn)
            return []
        }
        guard let names = decoding.texts(pair, at: keyPath), case .list(let values) = pair.value.content else {
            return []
        }
        for (name, value) in zip(names, values) where !known.contains(name) {
            let meant = nearestName(to: name, among: known).map { "; did you mean `\($0)`?" } ?? ""
            decoding.refuse(value.source, "`\(keyPath)`: there is no \(kind) `\(name)`\(meant)")
        }
        decoding.show(keyPath, .strings(names), pair.value.source)
        return names
    }
}

extension JSONValue {
    init(pairs: [ConfigPair]) {
        self = .object(pairs.map { Member(name: $0.key, value: JSONValue($0.value)) })
    }

    /// Makes the JSON of a value. Plain scalars have the types of YAML 1.2's core schema: `yes`, `no`, `on` and `off`
    /// are texts.
    init(_ value: ConfigValue) {
        switch value.content {
        case .map(let pairs): self.init(pairs: pairs)
        case .list(let values): self = .array(values.map { JSONValue($0) })
        case .scalar(let text, isPlain: false): self = .string(text)
        case .scalar(let text, isPlain: true):
            if value.isNull {
                self = .null
            } else if ["true", "True", "TRUE", "false", "False", "FALSE"].contains(text) {
                self = .bool(text.lowercased() == "true")
            } else if let number = Int64(text) {
                self = .integer(number)
            } else if text.utf8.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) }), let number = Double(text)
            {
                self = .number(number)
            } else {
                self = .string(text)
            }
        }
    }
}
