import Model
import Synchronization

/// The calls of a trial, as they are shown. May be used on any thread.
final class TriedCalls: Sendable {
    private struct State {
        /// The plugin of the last call that was shown.
        var plugin: String?
        /// What is still to be shown of the call under way, before anything about it.
        var head = ""
        /// The number of calls for a trigger.
        var calls = 0
    }

    private let isJSON: Bool
    private let state = Mutex(State())

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// The number of calls for a trigger.
    var count: Int { state.withLock(\.calls) }

    /// Returns what is shown for a line of the trace: nothing, or whole lines.
    func text(of line: String) -> String {
        guard let json = try? JSONValue(parsing: line) else { return line }
        return state.withLock { state in
            let text = Self.text(of: json, in: &state)
            return isJSON ? line : text
        }
    }

    private static func text(of line: JSONValue, in state: inout State) -> String {
        func member(_ name: String) -> String? {
            guard case .string(let text)? = line[name] else { return nil }
            return Text.visible(text)
        }
        let because = member("because").map { "(\($0))" }
        func shown() -> String {
            defer { state.head = "" }
            guard !state.head.isEmpty, let plugin = member("plugin"), state.plugin != plugin else { return state.head }
            state.plugin = plugin
            return "\(plugin)\n\(state.head)"
        }
        func detail(_ parts: String?...) -> String {
            shown() + "    " + parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ") + "\n"
        }
        switch member("phase") {
        case "begin":
            let call = member("call") ?? ""
            state.head = "  " + [call, member("path")].compactMap(\.self).joined(separator: " ") + "\n"
            // Of what comes before and after the calls for a trigger, what goes wrong is shown.
            guard member("trigger") != nil else { return "" }
            state.calls += 1
            return call.hasSuffix("Condition") ? "" : shown()
        case "condition":
            // A condition that the plugin does not have is not shown.
            guard let text = member("text") else { return "" }
            return detail(text)
        case "asked": return detail("asks:", member("what"), member("text"))
        case "dropped": return detail("not asked:", member("what"), member("text"), because)
        case "refused": return detail("refused:", member("what"), member("text"), because)
        case "message": return detail("says:", member("what").map { $0 + ":" }, member("text"))
        default:
            guard let status = member("status"), status != "ok" else { return "" }
            return detail("returned", status)
        }
    }
}
