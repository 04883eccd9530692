import Model

/// A plugin's own settings as they are written in the config.
struct OwnSettings {
    /// The key path of the settings, such as `plugins.vacuum` or `plugins.org.example.archive.settings`.
    var keyPath: String
    var pairs: [ConfigPair]
    /// The place of the plugin's part of the config.
    var source: ConfigSource
    /// The names of the host's settings that stand in the same map.
    var beside: [String] = []
    /// The index in the list of shown settings at which the settings that the config leaves out are inserted.
    var shownEnd = 0

    /// Returns a problem that the plugin's schema found, with its place in the config.
    func problem(_ problem: SettingProblem) -> ConfigProblem {
        let path = SettingProblem.path(of: [keyPath] + problem.keys)
        let (key, value) = places(of: problem.keys)
        switch problem.kind {
        case .wrong(let message):
            return ConfigProblem(source: value, message: "`\(path)`\(problem.keys.isEmpty ? ": " : " ")\(message)")
        case .unknown(let known):
            let names = problem.keys.count == 1 ? known + beside : known
            let hint =
                nearestName(to: problem.keys.last ?? "", among: names).map { "; did you mean `\($0)`?" }
                ?? "; the plugin takes no settings there"
            return ConfigProblem(source: key, message: "there is no setting `\(path)`\(hint)")
        }
    }

    /// Returns the places of the key at the end of a path of keys, and of its value.
    private func places(of keys: [String]) -> (key: ConfigSource, value: ConfigSource) {
        var places = (key: source, value: source)
        var value = ConfigValue(content: .map(pairs), source: source)
        for key in keys {
            if let pair = value.pairs?[key] {
                (places, value) = ((pair.source, pair.value.source), pair.value)
            } else if case .list(let values) = value.content, let index = Int(key.dropFirst().dropLast()),
                values.indices.contains(index - 1)
            {
                value = values[index - 1]
                places = (value.source, value.source)
            } else {
                break
            }
        }
        return places
    }
}

extension Config {
    /// Returns the problems of a plugin's settings.
    func problems(of report: PluginReport) -> [ConfigProblem] {
        report.settingProblems.compactMap { problem in
            guard let account = problem.account else { return pluginSettings[report.id]?.problem(problem) }
            return pluginOverrides[report.id]?[account]?.own.problem(problem)
        }
    }

    /// Returns the problem that a plugin's settings cannot be checked; nil if they can be checked.
    func schemaProblem(of report: PluginReport) -> ConfigProblem? {
        guard report.isSchemaWrong, let settings = pluginSettings[report.id] else { return nil }
        return ConfigProblem(
            source: settings.source,
            message: "`\(settings.keyPath)` cannot be checked, and the plugin is refused: \(report.reason ?? "")")
    }
}
