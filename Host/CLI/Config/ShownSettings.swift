import Model

extension Config {
    /// Returns every setting with its value and source, including the plugins' settings that the config leaves out.
    func shown(with reports: [PluginReport]) -> [ConfigDecoding.Setting] {
        let added = reports.compactMap { report in
            pluginSettings[report.id].map { ($0.shownEnd, $0.shown(report.settingDefaults)) }
        }
        var shown = shown
        for (end, settings) in added.sorted(by: { $0.0 > $1.0 }) { shown.insert(contentsOf: settings, at: end) }
        return shown
    }
}

extension OwnSettings {
    /// Returns the default values of the settings that the config leaves out, as they are shown.
    fileprivate func shown(_ defaults: JSONValue) -> [ConfigDecoding.Setting] {
        (ConfigValue(defaults).pairs ?? []).flatMap { $0.shown(at: keyPath) }
    }
}

extension ConfigPair {
    /// Returns a plugin's own setting as it is shown, one entry for each member. Values that look like secrets are
    /// masked.
    func shown(at keyPath: String, isSecret: Bool = false) -> [ConfigDecoding.Setting] {
        let path = "\(keyPath).\(key)"
        let isSecret = isSecret || JSONValue.isSecret(key)
        if case .map(let pairs) = value.content, !pairs.isEmpty {
            return pairs.flatMap { $0.shown(at: path, isSecret: isSecret) }
        }
        let shown = isSecret ? JSONValue.mask : JSONValue(value).masked
        return [ConfigDecoding.Setting(key: path, value: shown, source: value.source)]
    }
}

extension ConfigValue {
    /// Makes the value as the config would write it.
    fileprivate init(_ value: JSONValue) {
        source = .builtIn
        switch value {
        case .string(let text): content = .scalar(text, isPlain: false)
        case .array(let values): content = .list(values.map { ConfigValue($0) })
        case .object(let members):
            content = .map(members.map { ConfigPair(key: $0.name, source: .builtIn, value: ConfigValue($0.value)) })
        default: content = .scalar(value.text, isPlain: true)
        }
    }
}

extension JSONValue {
    fileprivate static var mask: JSONValue { .string("********") }

    /// Tells whether a key names a secret.
    fileprivate static func isSecret(_ key: String) -> Bool {
        ["password", "passphrase", "token", "secret", "apikey", "api-key", "credential"].contains {
            key.lowercased().contains($0)
        }
    }

    /// The value with everything masked that looks like a secret: values by their keys, and passwords in addresses.
    fileprivate var masked: JSONValue {
        switch self {
        case .string(let text):
            guard let scheme = text.firstRange(of: "://") else { return self }
            let authority = text[scheme.upperBound...].prefix { $0 != "/" }
            guard let at = authority.lastIndex(of: "@") else { return self }
            return .string(text[..<scheme.upperBound] + "********" + text[at...])
        case .array(let values): return .array(values.map(\.masked))
        case .object(let members):
            return .object(
                members.map { Member(name: $0.name, value: Self.isSecret($0.name) ? Self.mask : $0.value.masked) })
        default: return self
        }
    }
}
