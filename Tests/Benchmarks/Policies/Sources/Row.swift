/// One figure.
struct Row {
    var what: String
    var items: Int
    var value: Double
    var unit = "ms"
    /// The ratio to another figure of the same run, that figure's name, and the largest allowed ratio. If the limit is
    /// nil, the ratio is only printed.
    var comparison: (ratio: Double, to: String, most: Double?)?

    var isMissed: Bool { comparison.map { $0.ratio > $0.most ?? .infinity } ?? false }

    var text: String {
        let start = "| \(what) | \(items) | \(shown(value)) \(unit)"
        guard let comparison else { return start + " | – | – | |" }
        guard let most = comparison.most else {
            return start + " | \(shown(comparison.ratio)) × \(comparison.to) | – | |"
        }
        let verdict = isMissed ? "missed" : "kept"
        return start + " | \(shown(comparison.ratio)) × \(comparison.to) | \(shown(most)) | \(verdict) |"
    }
}
