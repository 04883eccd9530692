import Model

/// Something in the config that a person has to mend.
struct ConfigProblem: Hashable, CustomStringConvertible {
    var source: ConfigSource
    var message: String

    var description: String { source == .builtIn ? message : "\(source): \(message)" }
}

extension Failure {
    /// All problems of a config, a line each, in the order of the file.
    init(config problems: [ConfigProblem]) {
        self.init(
            .config, problems.map(\.description).joined(separator: "\n"),
            hint: problems.count == 1 ? nil : "\(problems.count) problems in the config; nothing was started")
    }
}
