import Model

/// What a plugin is set to, as it is written in the config.
struct OwnSettings {
    /// Where its settings stand: `plugins.vacuum`, `plugins.org.example.archive.settings`.
    var keyPath: String
    var pairs: [ConfigPair]
    /// The place of the plugin's part of the config.
    var source: ConfigSource
    /// The host's own settings that stand beside them.
    var beside: [String] = []
    /// Where the settings that they leave out belong among all that are shown.
    var shownEnd = 0

    /// A problem that the plugin's schema shows, with its place.
    func problem(_ problem: SettingProblem) -> ConfigProblem {
        let path = ([keyPath] + problem.keys).joined(separator: ".")
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

    /// Where the key at the end of a path of keys stands, and its value.
    private func places(of keys: [String]) -> (key: ConfigSource, value: ConfigSource) {
        var places = (key: source, value: source)
        var pairs = pairs
        for key in keys {
            guard let pair = pairs[key] else { break }
            places = (pair.source, pair.value.source)
            pairs = pair.value.pairs ?? []
        }
        return places
    }
}

extension Config {
    /// What is wrong with what a plugin is set to.
    func problems(of report: PluginReport) -> [ConfigProblem] {
        guard let settings = pluginSettings[report.id] else { return [] }
        return report.settingProblems.map(settings.problem)
    }

    /// That what a plugin is set to cannot be checked.
    func schemaProblem(of report: PluginReport) -> ConfigProblem? {
        guard report.isSchemaWrong, let settings = pluginSettings[report.id] else { return nil }
        return ConfigProblem(
            source: settings.source,
            message: "`\(settings.keyPath)` cannot be checked, and the plugin is refused: \(report.reason ?? "")")
    }
}
