import Digests
import Glibc
import Model

/// The whole config, decoded. The file overrides the defaults, the environment overrides the file, and flags override
/// the environment.
struct Config {
    /// The absolute path of the config file.
    var file: String
    var accounts: [AccountConfig]
    /// The name of the account that a flag or the environment chooses.
    var accountName: String?
    var settings: Settings
    var log: LogConfig
    /// Every setting with its value and source, ordered by subject as in the file.
    var shown: [ConfigDecoding.Setting]
    /// Warnings about the environment and about settings without effect. The config itself is valid.
    var warnings: [String] = []
    /// The problems of the config. Only a draft has problems.
    var problems: [ConfigProblem] = []
    /// The plugins' settings as they are written in the config.
    var pluginSettings: [PluginID: OwnSettings] = [:]
    /// What accounts say of plugins, by the accounts' names.
    var pluginOverrides: [PluginID: [String: AccountPlugin]] = [:]
    /// Checks that tell what is wrong at present with the secrets and certificates that the config names, also for
    /// accounts that have problems.
    var laterChecks: [@Sendable () async -> ConfigProblem?] = []

    /// The command line's options about the config.
    struct Request {
        var file: String?
        var account: String?
        var logLevel: String?
    }

    /// Reads and decodes the config.
    /// - Throws: `config` with every problem of the config, except those of plugins' own settings.
    static func load(_ request: Request, environment: [String: String]) throws(Failure) -> Config {
        try draft(request, environment: environment).whole()
    }

    /// Reads the config and decodes as much of it as possible.
    /// - Throws: `config` if the config cannot be read or is not YAML.
    static func draft(_ request: Request, environment: [String: String]) throws(Failure) -> Config {
        let file = try path(request, environment: environment)
        let bytes: [UInt8]
        do {
            bytes = try readFile(file, limit: 4 << 20)
        } catch {
            throw Failure(
                .config, "the config cannot be read: \(error.message)",
                hint: "create \(file), or name another config with --config; `larder demo` needs no config")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.config, "\(file) is not UTF-8", hint: "save it as UTF-8")
        }
        return try draft(of: text, file: file, request: request, environment: environment)
    }

    /// Returns the absolute path of the config file that the flag, the environment or the default names.
    /// - Throws: `config` if no config is named and HOME is not set.
    static func path(_ request: Request, environment: [String: String]) throws(Failure) -> String {
        func here(_ path: String) -> String {
            ConfigPaths.tidied(path.hasPrefix("/") ? path : currentFolder() + "/" + path)
        }
        if let file = request.file { return here(file) }
        if let file = environment["LARDER_CONFIG"], !file.isEmpty { return here(file) }
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/larder/config.yaml" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw Failure(.config, "no config is named and HOME is not set", hint: "name a config with --config FILE")
        }
        return home + "/.config/larder/config.yaml"
    }

    static func decode(
        _ text: String, file: String, request: Request = Request(), environment: [String: String] = [:]
    ) throws(Failure) -> Config {
        try draft(of: text, file: file, request: request, environment: environment).whole()
    }

    static func draft(
        of text: String, file: String, request: Request = Request(), environment: [String: String] = [:]
    ) throws(Failure) -> Config {
        var yaml = ConfigYAML(file: file)
        let parsed = yaml.parse(text)
        guard var root = parsed else { throw Failure(config: yaml.problems) }
        let warnings = ConfigEnvironment(variables: environment).lay(over: &root, text: text)
        if let level = request.logLevel {
            let value = ConfigValue(content: .scalar(level, isPlain: true), source: .flag("--log-level"))
            root.set(["log", "level"], to: value)
        }
        let folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        let paths = ConfigPaths(folder: folder.isEmpty ? "/" : folder, environment: environment)
        let decoding = ConfigDecoding(paths: paths, problems: yaml.problems)
        decoding.namedPlugins = (root.pairs?["plugins"]?.value.pairs ?? []).map(\.key)
            .filter { !PluginsConfig.keys.contains($0) }.map { PluginID(shortOrFull: $0) }
        var map = ConfigMap(root, at: "", in: decoding)
        var accounts = Self.accounts(map.take("accounts"), of: root.source, in: decoding)
        for index in accounts.indices {
            accounts[index].digest = decoding.digest(ofAccount: accounts[index].bookmark.name)
        }
        var settings = Settings(&map)
        for index in settings.plugins.indices {
            settings.plugins[index].overrides =
                decoding.pluginOverrides[settings.plugins[index].id]?.mapValues(\.override) ?? [:]
        }
        let log = LogConfig(map.take("log"), in: decoding)
        map.refuseUnavailable("control")
        map.refuseUnavailable("metrics")
        map.refuseUnknown()
        let accountName = request.account ?? environment["LARDER_ACCOUNT"].flatMap { $0.isEmpty ? nil : $0 }
        return Config(
            file: file, accounts: accounts, accountName: accountName, settings: settings, log: log,
            shown: decoding.settings, warnings: warnings + decoding.warnings, problems: decoding.problems,
            // If a key stands twice, it is unknown which of the two values is meant.
            pluginSettings: yaml.problems.isEmpty ? decoding.pluginSettings : [:],
            pluginOverrides: yaml.problems.isEmpty ? decoding.pluginOverrides : [:], laterChecks: decoding.laterChecks)
    }

    /// Returns the config if it has no problems.
    /// - Parameter more: problems that reading the config does not show.
    /// - Throws: `config` with all problems in the order of the file; problems without a place in the file stand first.
    func whole(_ more: [ConfigProblem] = []) throws(Failure) -> Config {
        let all = (problems + more).enumerated().sorted { a, b in
            (a.element.place, a.offset) < (b.element.place, b.offset)
        }
        var seen: Set<ConfigProblem> = []
        let problems = all.map(\.element).filter { seen.insert($0).inserted }
        guard problems.isEmpty else { throw Failure(config: problems) }
        return self
    }

    private static func accounts(
        _ pair: ConfigPair?, of file: ConfigSource, in decoding: ConfigDecoding
    ) -> [AccountConfig] {
        guard let pair, case .list(let values) = pair.value.content, !values.isEmpty else {
            decoding.refuse(
                pair?.value.source ?? file,
                "`accounts` must be a list with at least one account: `- name: home`, `url: https://…`, …")
            return []
        }
        return values.enumerated().compactMap { AccountConfig($1, index: $0 + 1, in: decoding) }
    }
}

extension ConfigDecoding {
    /// Returns a digest of the settings of an account that were decoded so far.
    fileprivate func digest(ofAccount name: String) -> String {
        let prefix = "accounts.\(name)."
        let lines = settings.filter { $0.key.hasPrefix(prefix) }.map { "\($0.key) \($0.value.text)\n" }
        return hexadecimal(MessageDigest.of(Array(lines.joined().utf8)))
    }
}

extension ConfigProblem {
    fileprivate var place: Int {
        guard case .file(_, let line, let column) = source else { return -1 }
        return line << 20 | column
    }
}
