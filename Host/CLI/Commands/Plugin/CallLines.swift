import Model

/// The lines of a trace as people read them: a call, and below it what comes of it. A value without I/O.
struct CallLines {
    /// Whether all calls are shown, and not only those for a trigger and what goes wrong in others.
    let showsAll: Bool
    /// What was shown last above a call.
    private var title: String?
    /// What is still to be shown of the calls under way, before anything about them, by what is shown above.
    private var heads: [String: String] = [:]

    init(showsAll: Bool) { self.showsAll = showsAll }

    /// Returns what is shown for a line of a trace: nothing, or whole lines.
    /// - Parameter place: what is shown beside the plugin's id; nil if there is nothing.
    mutating func text(of line: JSONValue, in place: String? = nil) -> String {
        func member(_ name: String) -> String? {
            guard case .string(let text)? = line[name] else { return nil }
            return Text.visible(text)
        }
        let plugin = [member("plugin"), place].compactMap(\.self).joined(separator: " ")
        let because = member("because").map { "(\($0))" }
        switch member("phase") {
        case "begin":
            let (call, trigger) = (member("call") ?? "", member("trigger"))
            var words = [call, member("path")]
            if showsAll { words += [member("loop"), words[1] == nil ? trigger.map { "(\($0))" } : nil] }
            heads[plugin] = "  " + words.compactMap(\.self).joined(separator: " ") + "\n"
            return !(showsAll || trigger != nil) || call.hasSuffix("Condition") ? "" : shown(plugin)
        case "condition":
            // A condition that the plugin does not have is not shown.
            guard let text = member("text") else { return "" }
            return detail(plugin, text)
        case "asked": return detail(plugin, "asks:", member("what"), member("text"))
        case "dropped": return detail(plugin, "not asked:", member("what"), member("text"), because)
        case "refused": return detail(plugin, "refused:", member("what"), member("text"), because)
        case "message": return detail(plugin, "says:", member("what").map { $0 + ":" }, member("text"))
        case "leftOut":
            guard case .integer(let count)? = line["count"] else { return "" }
            heads[plugin] = nil
            return shown(plugin) + "  \(Text.count(Int(clamping: count), "line")) left out, which nobody read in time\n"
        default:
            guard let status = member("status"), status != "ok" else { return "" }
            return detail(plugin, "returned", status)
        }
    }

    /// Takes what is still to be shown of the call under way, below the plugin if another one's call came before.
    private mutating func shown(_ plugin: String) -> String {
        let head = heads.removeValue(forKey: plugin) ?? ""
        guard title != plugin else { return head }
        title = plugin
        return "\(plugin)\n\(head)"
    }

    private mutating func detail(_ plugin: String, _ parts: String?...) -> String {
        shown(plugin) + "    " + parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ") + "\n"
    }
}
