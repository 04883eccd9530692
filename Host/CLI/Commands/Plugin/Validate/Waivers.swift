import Model
import Validator

/// The checks whose findings are accepted, with the reasons.
///
///     PV02 the library is linked with one that exports two symbols
struct Waivers: Sendable {
    private var reasons: [String: String] = [:]

    /// Reads a file with a waiver on each line. Lines that are empty or begin with `#` say nothing.
    /// - Parameter path: The path of the file; nil for no waivers.
    /// - Throws: `badData` if a line has no id of a check, or no reason.
    init(reading path: String?) throws(Failure) {
        guard let path else { return }
        let text = String(decoding: try readFile(path, limit: 1 << 20), as: UTF8.self)
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let id = words.first, !id.hasPrefix("#") else { continue }
            func wrong(_ what: String) -> Failure {
                Failure(
                    .badData, "\(path):\(number + 1): \(what)",
                    hint: "Write the id of a check and the reason on each line, such as: PV02 it exports a symbol for X"
                )
            }
            guard PluginCheck.all.contains(where: { $0.id == id }) else {
                throw wrong("there is no check `\(Text.visible(String(id)))`")
            }
            let reason = words.count > 1 ? String(words[1].reversed().drop(while: \.isWhitespace).reversed()) : ""
            guard !reason.isEmpty else { throw wrong("the waiver of \(id) has no reason") }
            guard reasons[String(id)] == nil else { throw wrong("\(id) is waived twice") }
            reasons[String(id)] = reason
        }
    }

    /// The reason why what a check finds is accepted; nil if it is not.
    subscript(id: String) -> String? { reasons[id] }

    /// The ids of the checks.
    var ids: [String] { reasons.keys.sorted() }
}
