import Core
import Model

/// An account's status for people.
struct StatusText {
    let lines: [String]

    /// - Parameter phase: what a running host does with an account that is not at work.
    init(_ status: AccountStatus, phase: String? = nil, busyWith: [String] = [], plugins: [PluginReport]) {
        var lines = ["\(status.account): \(Self.connection(status, phase))"]
        if !busyWith.isEmpty { lines.append("  busy with  \(busyWith.joined(separator: ", "))") }
        if let problem = status.connectionProblem, status.trouble == nil {
            lines.append("  because    \(Text.visible(problem))")
        }
        if let trouble = status.trouble {
            lines.append("  waits      \(Text.visible(trouble.message))")
            if let hint = trouble.hint { lines.append("             \(Text.visible(hint))") }
        }
        if let pause = status.pause {
            let until = pause.until.map { "until \(Text.time($0)); " } ?? ""
            lines.append("  paused     \(until)`larder resume` lets it go on")
        }
        if let refusal = status.refusal {
            let until =
                status.isRunning
                ? refusal.nextTry.map { "tried again at \(Text.time($0))" } : "tried again by the next `larder run`"
            lines.append(
                "  rejected   \(Text.visible(refusal.message)), since \(Text.time(refusal.since)); "
                    + (until ?? "tried again when the secret's source has changed"))
        }
        if let server = status.server {
            let name = [server.product, server.version].compactMap(\.self).joined(separator: " ")
            let kind =
                switch server.kind {
                case .ownCloudFamily: "ownCloud family"
                case .webDAV: "plain WebDAV"
                case .noFiles: "no files"
                }
            let shown = name.isEmpty ? "" : " (\(Text.visible(name)))"
            lines.append("  server     \(kind)\(shown): \(server.because)")
            if server.kind != .noFiles, !server.recognizesMoves {
                lines.append(
                    "             an item that is moved there is treated as removed and new, and is downloaded again")
            }
        }
        lines.append("  items      \(status.items), anchor \(status.anchor)")
        if status.etagsWereWrong {
            lines.append(
                "  scans      each lists every folder, because a folder had its old ETag after a change in it")
            if let days = status.etagDaysLeft {
                lines.append(
                    "             until the ETags have told of every change for \(Text.count(days, "more day"))")
            }
        }
        lines.append("  here       \(Text.count(status.localCopies, "file")), \(Text.bytes(status.localBytes))")
        if status.locallyChanged > 0 { lines.append("  changed    \(status.locallyChanged), only here") }
        let records = SyncRecord.State.allCases.compactMap { state in
            status.records[state].map { "\($0) \(state.name)" }
        }
        lines.append("  queue      \(records.isEmpty ? "empty" : records.joined(separator: ", "))")
        if status.issues > 0 {
            lines.append(
                "  issues     \(Text.count(status.issues, "issue waits", "issues wait")): see `larder issue list`")
        }
        for report in status.policies {
            let target = Text.visible(report.policy.path?.text ?? report.policy.condition)
            lines.append(
                "  policy     \(report.policy.kind) \(target): \(Text.count(report.items ?? 0, "item")), "
                    + Text.bytes(report.bytes))
        }
        lines += Self.loops(status.loops)
        for plugin in plugins where plugin.state != .found {
            let reason = plugin.reason.map { ": \(Text.visible($0))" } ?? ""
            lines.append("  plugin     \(plugin.id.shortName) \(plugin.state.rawValue)\(reason)")
        }
        self.lines = lines
    }

    /// Returns the state of the connection to the server; for an account that is not at work, what its host does with it;
    /// without a running host, the state that the last host recorded.
    private static func connection(_ status: AccountStatus, _ phase: String?) -> String {
        let next = status.nextPoll.map { ", next poll at \(Text.time($0))" } ?? ""
        if let trouble = status.trouble {
            return "waiting after a problem" + (trouble.nextTry.map { ", next try at \(Text.time($0))" } ?? "")
        }
        if let phase { return Text.visible(phase) }
        if status.isRunning { return (status.pause == nil ? status.connection.rawValue : "paused") + next }
        let listed = status.lastScan.map { ", listed at \(Text.time($0))" } ?? ", nothing was listed yet"
        let last =
            switch status.lastConnection {
            case nil: ""
            case .online: "; the last host reached the server"
            case .unavailable: "; the last host found the server unable to serve requests"
            case .offline, .connecting: "; the last host did not reach the server"
            }
        return "no host is running\(listed)\(last)"
    }

    /// Returns a line with the number of loops for each result, and a line for each loop that failed.
    private static func loops(_ loops: [LoopState]) -> [String] {
        if loops.isEmpty { return [] }
        let words = LoopResult.allCases.map(\.rawValue) + ["not polled yet", "disabled"]
        var counts: [String: Int] = [:]
        for loop in loops {
            counts[loop.isEnabled ? loop.lastResult?.rawValue ?? "not polled yet" : "disabled", default: 0] += 1
        }
        let all = words.compactMap { word in counts[word].map { "\($0) \(word)" } }.joined(separator: ", ")
        return ["  loops      \(all)"]
            + loops.filter { $0.isEnabled && $0.lastResult == .error }.map { loop in
                "  loop       \(Text.visible(loop.key.description)): \(Text.visible(loop.lastError ?? "failed"))"
            }
    }
}
