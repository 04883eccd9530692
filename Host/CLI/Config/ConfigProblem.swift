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

/// The known key that is nearest to a mistyped one, by the number of letters to change, add, drop or swap.
func nearest(to name: String, among known: some Sequence<String>) -> String? {
    known.min { (editDistance(name, $0), $0) < (editDistance(name, $1), $1) }
}

private func editDistance(_ a: String, _ b: String) -> Int {
    let a = Array(a.lowercased().utf8)
    let b = Array(b.lowercased().utf8)
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}
