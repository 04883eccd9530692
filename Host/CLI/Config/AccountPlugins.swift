import Model

/// What an account's part of the config says of one plugin.
struct AccountPlugin {
    var override: PluginOverride
    /// The plugin's own settings as they are written there.
    var own: OwnSettings
}

extension ConfigDecoding {
    /// Decodes the `plugins` of an account, which holds only what is different for this account.
    /// - Parameters:
    ///   - keyPath: the key path of the account.
    ///   - account: the account's name, or what stands for it in messages.
    func accountPlugins(_ pair: ConfigPair?, at keyPath: String, of account: String) -> [PluginID: PluginOverride] {
        let keyPath = keyPath + ".plugins"
        var map = ConfigMap(pair?.value, at: keyPath, in: self)
        var overrides: [PluginID: PluginOverride] = [:]
        for pair in map.takeRest() {
            let id = PluginID(shortOrFull: pair.key)
            if let problem = problem(of: pair.key, at: keyPath) {
                refuse(pair.source, problem)
            } else if overrides[id] != nil {
                refuse(pair.source, "`\(keyPath)`: the plugin `\(id.shortName)` is given a second time")
                pluginOverrides[id]?[account] = nil
            } else {
                overrides[id] = accountPlugin(id, pair.value, at: "\(keyPath).\(id.shortName)", of: account)
            }
        }
        return overrides
    }

    /// Returns what is wrong with a key of an account's `plugins`; nil if the key is a plugin of the config.
    private func problem(of key: String, at keyPath: String) -> String? {
        if PluginsConfig.keys.contains(key) { return Self.isShared("\(keyPath).\(key)", "plugins.\(key)") }
        let known = namedPlugins + firstPartyNames.map { PluginID(shortOrFull: $0) }
        guard !known.contains(PluginID(shortOrFull: key)) else { return nil }
        // An id is like another id at most.
        let alike = Set(known.map(\.shortName)).filter { $0.contains(".") == key.contains(".") }.sorted()
        let meant = nearestName(to: key, among: alike, ifLikely: true)
        let hint =
            meant.map { "did you mean `\($0)`?" } ?? "a plugin that did not come with Larder is named in `plugins`"
        return "`\(keyPath)`: the config has no plugin `\(key)`; \(hint)"
    }

    private static func isShared(_ key: String, _ shared: String) -> String {
        "`\(key)` cannot be different for one account; set `\(shared)`, which holds for all accounts"
    }

    private func accountPlugin(
        _ id: PluginID, _ value: ConfigValue, at keyPath: String, of account: String
    ) -> PluginOverride {
        let count = problems.count
        var map = ConfigMap(value, at: keyPath, in: self)
        var override = PluginOverride()
        override.isEnabled = map.take("enabled").map { bool($0, at: keyPath + ".enabled") }
        for key in PluginsConfig.sharedKeys {
            guard let pair = value.pairs?[key] else { continue }
            _ = map.take(key)
            refuse(pair.source, Self.isShared("\(keyPath).\(key)", "plugins.\(id.shortName).\(key)"))
        }
        let (own, shownAt) = PluginsConfig.ownSettings(of: id, &map)
        for shown in own.flatMap({ $0.shown(at: shownAt) }) { show(shown.key, shown.value, shown.source) }
        override.json = JSONValue(pairs: own).text
        if problems.count == count {
            pluginOverrides[id, default: [:]][account] = AccountPlugin(
                override: override,
                own: OwnSettings(keyPath: shownAt, pairs: own, source: value.source, beside: ["enabled"]))
        }
        return override
    }
}

extension Config {
    /// Returns whether a plugin is enabled for an account.
    func isEnabled(_ id: PluginID, for account: AccountConfig) -> Bool {
        settings.plugins.first { $0.id == id }?.with(account.bookmark.plugins[id]).isEnabled ?? false
    }

    /// Returns what the config says of whether a plugin is enabled: for all accounts, and then for each account for
    /// which it says something else.
    func enabledSettings(of id: PluginID) -> [ConfigDecoding.Setting] {
        let keys = ["plugins.\(id.shortName).enabled"] + accounts.map { $0.enabledKey(of: id) }
        return keys.compactMap { key in shown.first { $0.key == key } }
    }
}

extension AccountConfig {
    /// The key path of the account's own `enabled` of a plugin.
    func enabledKey(of id: PluginID) -> String { "accounts.\(bookmark.name).plugins.\(id.shortName).enabled" }
}
