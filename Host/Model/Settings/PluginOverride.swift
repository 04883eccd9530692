/// The part of a plugin's settings that is different for one account.
public struct PluginOverride: Hashable, Sendable {
    /// Whether the plugin is enabled for the account. Nil means: as for all accounts.
    public var isEnabled: Bool?
    /// The plugin's own settings that are different, a JSON object.
    public var json: String

    /// Creates an override, by default one without effect.
    public init(isEnabled: Bool? = nil, json: String = "{}") {
        self.isEnabled = isEnabled
        self.json = json
    }
}

extension PluginSettings {
    /// Whether the plugin is enabled for all accounts, or for one of those with an override.
    public var isEnabledAnywhere: Bool { isEnabled || overrides.values.contains { $0.isEnabled == true } }

    /// Returns the settings for an account: these, with the account's override laid over them. Settings in a setting are
    /// overridden one by one; a list is overridden as a whole.
    ///
    ///     let all = PluginSettings(id: PluginID("org.larder.vacuum"), json: #"{"after": "60s"}"#)
    ///     all.with(PluginOverride(json: #"{"after": "5m"}"#)).json   // {"after":"5m"}
    ///
    /// - Parameter override: The account's override; nil if it has none.
    public func with(_ override: PluginOverride?) -> PluginSettings {
        guard let override else { return self }
        var settings = self
        settings.isEnabled = override.isEnabled ?? isEnabled
        do {
            settings.json = try JSONValue(parsing: json).overlaid(with: JSONValue(parsing: override.json)).text
        } catch {
            // The check of the settings finds what is wrong.
            settings.json = override.json
        }
        return settings
    }
}

extension JSONValue {
    /// Returns the value with another one laid over it: two objects are merged member by member; every other value is
    /// replaced.
    fileprivate func overlaid(with other: JSONValue) -> JSONValue {
        guard case .object(var members) = self, case .object(let others) = other else { return other }
        for other in others {
            if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: other.name) }) {
                members[index].value = members[index].value.overlaid(with: other.value)
            } else {
                members.append(other)
            }
        }
        return .object(members)
    }
}
