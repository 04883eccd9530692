import ArgumentParser
import Core
import Model

struct Explain: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain what each plugin would do with an item, why, and when. Changes nothing.",
        discussion: "Uses no network, and works while a host is running. Removed items can be explained too.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The item's path on the server.", completion: .itemPath) var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let (item, explanations) = try await withPreview(global, console) { preview throws(Failure) in
            try await preview.explain(path)
        }
        if global.isJSON {
            for explanation in explanations { console.print(JSONValue(explanation)) }
            return []
        }
        console.print(Text.visible(item.path.text) + (item.isRemoved ? " (removed)" : ""))
        let width = explanations.map(\.plugin.shortName.count).max() ?? 0
        for explanation in explanations {
            console.print("  \(Text.padded(explanation.plugin.shortName, to: width))  \(explanation.sentence)")
            let indent = Text.padded("", to: width)
            if let says = explanation.says { console.print("  \(indent)  it says: \(Text.visible(says))") }
            guard !explanation.policies.isEmpty else { continue }
            let ids = explanation.policies.map { Text.visible($0.text) }.joined(separator: ", ")
            console.print("  \(indent)  covered by: \(ids)")
        }
        return []
    }
}

extension Explanation {
    /// The plugin's wishes for the item now; if there are none, its wishes at the time when its answer changes.
    var wishes: [Wish] { now.isEmpty ? then : now }

    /// The names of the wished actions, each once; nil if there are none.
    var would: String? {
        var names: [String] = []
        for name in wishes.compactMap(\.would) where !names.contains(name) { names.append(name) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// The explanation as a sentence for people.
    var sentence: String {
        guard let because, let trigger else {
            return trigger == nil ? "is not called now" : "does nothing with any item"
        }
        let reason = Text.shortened(because.text)
        let holds = matches || cleanup
        let deed = would.map(Self.deed)
        guard let change else {
            return holds ? "\(deed ?? "nothing"), because \(reason)" : "nothing: the item would have to meet \(reason)"
        }
        let when = Self.when(change.named, trigger)
        if !now.isEmpty { return "\(deed ?? "nothing"), because \(reason); this may change from \(when)" }
        guard !then.isEmpty else {
            return "nothing: \(reason)\(holds ? "" : " does not hold"); this may change from \(when)"
        }
        return "\(would == "removeLocalCopy" ? "expires" : deed ?? "") \(when), because of \(reason)"
    }

    private static func deed(_ names: String) -> String {
        switch names {
        case "download": "downloads it or keeps it"
        case "removeLocalCopy": "removes the copy"
        case "update": "brings the copy up to date"
        case "purge": "forgets it and removes its copy"
        default: names
        }
    }

    /// Returns a text such as `2026-11-28 at the first scan after 10:12`, in UTC.
    private static func when(_ time: Timestamp, _ trigger: Trigger) -> String {
        let text = time.description
        let occasion =
            switch trigger {
            case .itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges: "scan"
            case .itemsChanged: "change of the item"
            default: "run"
            }
        return "\(text.prefix(10)) at the first \(occasion) after \(text.dropFirst(11).prefix(5))"
    }
}

extension JSONValue {
    init(_ explanation: Explanation) {
        self = .object([
            "plugin": .string(explanation.plugin.text),
            "kind": .string(explanation.kind.text),
            "matches": .bool(explanation.matches),
            "cleanup": .bool(explanation.cleanup),
            "because": .string(explanation.because?.text),
            "would": .string(explanation.would),
            "when": .time(explanation.change?.named),
            "policies": .strings(explanation.policies.map(\.text)),
            "says": .string(explanation.says),
        ])
    }
}
