import Model
import Synchronization

/// What of a host's output is about one library's plugins, as `larder plugin dev` shows it. May be used on any thread.
///
/// The host writes the lines of its log and those of a trace as JSON; anything else was written by a plugin itself, or
/// says how the host ended.
final class DevLines: Sendable {
    private struct State {
        var ids: [String] = []
        /// The plugin of the last call that was shown.
        var plugin: String?
        /// What is still to be shown of the call under way of each plugin, before anything about it.
        var heads: [String: String] = [:]
        /// The conditions as they were shown last, by plugin and kind.
        var conditions: [String: String] = [:]
    }

    private let isJSON: Bool
    private let state = Mutex(State())

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Begins with the lines of a new host.
    /// - Parameter ids: The plugins of the library.
    func begin(with ids: [PluginID]) { state.withLock { $0 = State(ids: ids.map(\.text)) } }

    /// Returns what is shown for a line: nothing, or whole lines.
    func text(of line: String) -> String {
        guard let json = try? JSONValue(parsing: line), case .object = json else {
            return line.isEmpty
                ? "" : isJSON ? Self.line(.object(["output": .string(line)])) : Text.visible(line) + "\n"
        }
        return state.withLock { state in
            if case .string(let level)? = json["level"] {
                guard Self.concerns(json, level, state.ids) else { return "" }
                return isJSON ? Self.line(json) : Self.log(json, level, in: &state)
            }
            guard let plugin = Self.member("plugin", of: json), state.ids.contains(plugin) else { return "" }
            return isJSON ? Self.line(json) : Self.trace(json, of: plugin, in: &state)
        }
    }

    /// Tells whether a line of the log is by a plugin of the library, or about one, or an error of the host.
    private static func concerns(_ json: JSONValue, _ level: String, _ ids: [String]) -> Bool {
        if case .string(let plugin)? = json["fields"]?["plugin"] { return ids.contains(plugin) }
        if level == "error" || level == "critical" { return true }
        guard case .string(let message)? = json["message"] else { return false }
        return ids.contains { message.contains($0) }
    }

    private static func log(_ json: JSONValue, _ level: String, in state: inout State) -> String {
        let message = member("message", of: json) ?? ""
        let hint = json["fields"].flatMap { member("hint", of: $0) }.map { "; \($0)" } ?? ""
        guard let plugin = json["fields"].flatMap({ member("plugin", of: $0) }) else {
            state.plugin = nil
            return "\(level): \(message)\(hint)\n"
        }
        return head(of: plugin, in: &state) + "    \(level): \(message)\(hint)\n"
    }

    private static func trace(_ json: JSONValue, of plugin: String, in state: inout State) -> String {
        func detail(_ parts: String?...) -> String {
            head(of: plugin, in: &state) + "    "
                + parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
                + "\n"
        }
        let because = member("because", of: json).map { "(\($0))" }
        let (what, text) = (member("what", of: json), member("text", of: json))
        switch member("phase", of: json) {
        case "begin":
            let place = member("path", of: json) ?? member("loop", of: json)
            let trigger = member("trigger", of: json).map { "(\($0))" }
            let words = [member("call", of: json), place, trigger].compactMap(\.self)
            state.heads[plugin] = "  \(words.joined(separator: " "))\n"
            // Of the calls that are about no item and no loop, what happens in them is shown.
            return place == nil ? "" : head(of: plugin, in: &state)
        case "condition":
            // A condition is the same in each run, as a rule.
            guard let text, state.conditions.updateValue(text, forKey: "\(plugin) \(what ?? "")") != text else {
                return ""
            }
            return detail("\(what ?? ""):", text)
        case "asked": return detail("asks:", what, text)
        case "dropped": return detail("not asked:", what, text, because)
        case "refused": return detail("refused:", what, text, because)
        // The log has it.
        case "message": return ""
        default:
            let status = member("status", of: json)
            guard let status, status != "ok" else {
                state.heads[plugin] = nil
                return ""
            }
            defer { state.heads[plugin] = nil }
            return detail("returned", status)
        }
    }

    /// Takes what is still to be shown of a plugin's call, below the plugin's id if another plugin's came before.
    private static func head(of plugin: String, in state: inout State) -> String {
        let head = state.heads.updateValue("", forKey: plugin) ?? ""
        guard state.plugin != plugin else { return head }
        state.plugin = plugin
        return "\(plugin)\n\(head)"
    }

    private static func member(_ name: String, of json: JSONValue) -> String? {
        guard case .string(let text)? = json[name] else { return nil }
        return Text.visible(text)
    }

    private static func line(_ json: JSONValue) -> String { Text.visible(json.text) + "\n" }
}
