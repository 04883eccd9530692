import Model

/// A problem of the config that a person has to correct.
struct ConfigProblem: Hashable, CustomStringConvertible {
    var source: ConfigSource
    var message: String

    var description: String { source == .builtIn ? message : "\(source): \(message)" }
}

extension Failure {
    /// Makes one failure of all problems of a config, with a line for each, in the given order.
    init(config problems: [ConfigProblem]) {
        self.init(
            .config, problems.map(\.description).joined(separator: "\n"),
            hint: problems.count == 1 ? nil : "\(problems.count) problems in the config; nothing was started")
    }
}
