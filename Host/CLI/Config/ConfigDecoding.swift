import Model

/// The results that gather while a config is decoded: every problem, and every setting with its value and source.
final class ConfigDecoding {
    /// A setting as `config show` prints it.
    struct Setting {
        var key: String
        var value: JSONValue
        var source: ConfigSource
    }

    let paths: ConfigPaths
    private(set) var problems: [ConfigProblem]
    /// Warnings about settings that are allowed but have no effect.
    private(set) var warnings: [String] = []
    private(set) var settings: [Setting] = []
    /// The plugins' settings as they are written in the config. A plugin whose part of the config has a problem is left
    /// out.
    var pluginSettings: [PluginID: OwnSettings] = [:]
    /// What accounts say of plugins, by the accounts' names. What has a problem is left out.
    var pluginOverrides: [PluginID: [String: AccountPlugin]] = [:]
    /// The plugins that the `plugins` of the whole config names.
    var namedPlugins: [PluginID] = []
    var claims = AccountClaims()
    /// Checks that tell what is wrong at present with secrets and certificates, which are otherwise read only when they
    /// are needed.
    var laterChecks: [@Sendable () async -> ConfigProblem?] = []

    init(paths: ConfigPaths, problems: [ConfigProblem] = []) {
        self.paths = paths
        self.problems = problems
    }

    func refuse(_ source: ConfigSource, _ message: String) {
        problems.append(ConfigProblem(source: source, message: message))
    }

    func warn(_ message: String) { warnings.append(message) }

    func show(_ key: String, _ value: JSONValue, _ source: ConfigSource) {
        settings.append(Setting(key: key, value: value, source: source))
    }
}

/// A problem of a value, without its place. The caller of the decoding function adds the place.
struct Wrong: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// A map of the config from which keys are taken one by one. Keys that were not taken are unknown settings.
struct ConfigMap {
    let decoding: ConfigDecoding
    /// The map's own key path, such as `limits`; empty for the whole file.
    let keyPath: String
    /// The place of the map in the config.
    let source: ConfigSource
    private var pairs: [ConfigPair]
    /// The keys that were requested.
    private(set) var known: [String] = []
    /// The requested keys that the map has.
    private(set) var given: [String] = []

    /// Begins to decode a map. Records a problem if the value is neither a map nor null.
    /// - Parameter value: the value; nil or null stands for an empty map.
    init(_ value: ConfigValue?, at keyPath: String, in decoding: ConfigDecoding) {
        self.decoding = decoding
        self.keyPath = keyPath
        source = value?.source ?? .builtIn
        pairs = value?.pairs ?? []
        if let value, value.pairs == nil {
            decoding.refuse(value.source, "`\(keyPath)` must be a map of settings, not \(value.kindName)")
        }
    }

    func path(of key: String) -> String { keyPath.isEmpty ? key : "\(keyPath).\(key)" }

    mutating func take(_ key: String) -> ConfigPair? {
        known.append(key)
        guard let index = pairs.firstIndex(where: { $0.key == key }) else { return nil }
        given.append(key)
        return pairs.remove(at: index)
    }

    /// Returns all keys that were not taken, with their values, and removes them.
    mutating func takeRest() -> [ConfigPair] {
        defer { pairs = [] }
        return pairs
    }

    /// Records a problem if the map has a key that this program's contract defines but this build does not implement.
    mutating func refuseUnavailable(_ key: String) {
        guard let pair = take(key) else { return }
        known.removeLast()
        decoding.refuse(pair.source, "`\(path(of: key))` is not available in this build; remove it")
    }

    /// Records a problem for each key that was not taken.
    /// - Parameter more: keys that would be right too, for the hint.
    mutating func refuseUnknown(_ more: [String] = []) {
        for pair in takeRest() {
            let meant = nearestName(to: pair.key, among: known + more)
            let hint = meant.map { "; did you mean `\($0)`?" } ?? ""
            decoding.refuse(pair.source, "there is no setting `\(path(of: pair.key))`\(hint)")
        }
    }

    /// Decodes a single value. Records a problem and returns the fallback if the value is wrong; returns the fallback
    /// if the value is absent.
    /// - Parameters:
    ///   - parse: converts the text; its second argument tells whether the text is plain. Throws the problem of the
    ///     text.
    ///   - json: returns the value as `config show` prints it.
    mutating func scalar<Value>(
        _ key: String, or fallback: Value, json: (Value) -> JSONValue, parse: (String, Bool) throws(Wrong) -> Value
    ) -> Value {
        guard let pair = take(key), !pair.value.isNull else {
            decoding.show(path(of: key), json(fallback), .builtIn)
            return fallback
        }
        guard case .scalar(let text, let isPlain) = pair.value.content else {
            decoding.refuse(pair.value.source, "`\(path(of: key))` must be a single value, not \(pair.value.kindName)")
            return fallback
        }
        do {
            let value = try parse(text, isPlain)
            decoding.show(path(of: key), json(value), pair.value.source)
            return value
        } catch {
            decoding.refuse(pair.value.source, "`\(path(of: key))`: \(error.message)")
            return fallback
        }
    }
}
