import Model

/// What gathers while a config is decoded: every problem, and every setting with its value and source.
final class ConfigDecoding {
    /// A setting as `config show` prints it.
    struct Setting {
        var key: String
        var value: JSONValue
        var source: ConfigSource
    }

    let paths: ConfigPaths
    private(set) var problems: [ConfigProblem]
    /// What is allowed and of no use.
    private(set) var warnings: [String] = []
    private(set) var settings: [Setting] = []
    /// What plugins are set to, as it is written; of those alone whose part of the config has no problem.
    var pluginSettings: [PluginID: OwnSettings] = [:]
    var claims = AccountClaims()
    /// Tell what is wrong now with secrets and certificates, which are looked at when they are needed.
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

/// What is wrong with a value; the place is added by who asked for it.
struct Wrong: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// A map of the config while its keys are taken one by one. Keys that nobody took are unknown.
struct ConfigMap {
    let decoding: ConfigDecoding
    /// The map's own key path, such as `limits`; empty for the whole file.
    let keyPath: String
    /// The map's place.
    let source: ConfigSource
    private var pairs: [ConfigPair]
    /// The keys that were asked for.
    private(set) var known: [String] = []
    /// Those of them that are there.
    private(set) var given: [String] = []

    /// - Parameter value: nil or null: an empty map. Anything else than a map is a problem.
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

    /// All keys that are left.
    mutating func takeRest() -> [ConfigPair] {
        defer { pairs = [] }
        return pairs
    }

    /// A key of this program's contract that this build has nothing behind.
    mutating func refuseUnavailable(_ key: String) {
        guard let pair = take(key) else { return }
        known.removeLast()
        decoding.refuse(pair.source, "`\(path(of: key))` is not available in this build; remove it")
    }

    /// Names what is left as unknown.
    /// - Parameter more: keys that would be right too.
    mutating func refuseUnknown(_ more: [String] = []) {
        for pair in takeRest() {
            let meant = nearestName(to: pair.key, among: known + more)
            let hint = meant.map { "; did you mean `\($0)`?" } ?? ""
            decoding.refuse(pair.source, "there is no setting `\(path(of: pair.key))`\(hint)")
        }
    }

    /// A single value.
    /// - Parameters:
    ///   - parse: gets the text and whether it is plain; throws what is wrong with it.
    ///   - json: how `config show` prints it.
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
