import Core
import Model

/// A table of policy changes for people.
struct PolicyHistoryTable {
    /// The largest number of policies of one step that are named. The remaining policies are only counted.
    private static let mostLines = 4

    let lines: [String]

    /// Makes the table.
    /// - Parameter steps: the steps, the latest first.
    init(_ steps: [PolicyHistoryStep]) {
        var table = Table(["", "time", "who", "what"])
        var isNext = true
        for step in steps {
            var mark = "○"
            if step.step.isQuiet {
                mark = "·"
            } else if step.isApplied {
                mark = isNext ? "▶" : "●"
                isNext = false
            }
            var cells = [mark, Text.time(step.step.author.time), Self.name(of: step.step.author)]
            for line in Self.lines(of: step.step) {
                table.add(cells + [line])
                cells = ["", "", ""]
            }
        }
        lines = table.lines
    }

    /// Returns what a step did, with a line for each policy, such as `added availableOffline /Photos`.
    static func lines(of step: PolicyStep) -> [String] {
        var lines = step.changes.prefix(mostLines).map { change in
            let name = change.target.map {
                "\($0.kind) \(Text.shortened($0.path?.text ?? $0.identifier ?? $0.condition, to: 80))"
            }
            return "\(change.word) \(name ?? "")"
        }
        let rest = step.changes.count - lines.count
        if rest > 0 { lines.append("and \(rest) more") }
        return lines.isEmpty ? ["nothing"] : lines
    }

    static func name(of author: PolicyAuthor) -> String {
        switch author.who {
        case .person(let name): Text.visible(name)
        case .plugin(let id): Text.visible(id.text)
        case .host: "larder"
        }
    }
}

extension JSONValue {
    init(_ step: PolicyHistoryStep) {
        self = .object([
            "step": .string(step.id),
            "time": .time(step.step.author.time),
            "by": JSONValue(step.step.author.who),
            "quiet": .bool(step.step.isQuiet),
            "applied": .bool(step.isApplied),
            "changes": .array(step.step.changes.map { JSONValue($0) }),
        ])
    }

    private init(_ who: PolicyAuthor.Who) {
        let (kind, name): (String, String?) =
            switch who {
            case .person(let name): ("person", name)
            case .plugin(let id): ("plugin", id.text)
            case .host: ("host", nil)
            }
        self = .object(["kind": .string(kind), "name": .string(name)])
    }

    private init(_ change: PolicyDifference) {
        self = .object([
            "policy": .string(change.target?.id.text),
            "kind": .string(change.target?.kind.text),
            "what": .string(change.before == nil ? "added" : change.after == nil ? "removed" : "changed"),
            "fields": .strings(change.fields.map(\.rawValue)),
            "before": JSONValue(change.before.map { PolicyReport($0) }),
            "after": JSONValue(change.after.map { PolicyReport($0) }),
        ])
    }
}

extension PolicyDifference {
    fileprivate var target: ItemPolicy? { after ?? before }

    /// The change in a word or a phrase: `added`, `removed`, or `changed where, path of`.
    fileprivate var word: String {
        if before == nil { return "added" }
        if after == nil { return "removed" }
        return "changed \(fields.map(\.rawValue).joined(separator: ", ")) of"
    }
}
