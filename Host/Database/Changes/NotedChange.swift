public import Model

/// A change of something else than an item, as it is kept for readers of the change feed.
public struct NotedChange: Hashable, Sendable {
    /// What changed.
    public enum Subject: Hashable, Sendable {
        /// A sync record. The action and the path are those that it had.
        case record(SyncRecordID, action: String, path: String)
        /// An issue. The code is the one that it had.
        case issue(IssueID, code: String)
        /// An event loop.
        case loop(LoopKey)
        /// A plugin, with the state in which it is, and why; nil if no reason is known.
        case plugin(PluginID, state: String, reason: String?)
    }

    /// How something changed.
    public enum Change: String, Hashable, Sendable { case added, updated, removed }

    /// What changed.
    public var subject: Subject
    /// How it changed.
    public var change: Change
}

/// The changes of one transaction.
public struct NotedChanges: Hashable, Sendable {
    /// The transaction's number.
    public var anchor: Int64
    /// The changes, in their order.
    public var changes: [NotedChange]
}

extension NotedChange {
    /// Reads a list of the column `notes`; nil if it is none.
    init?(_ json: JSONValue) {
        guard case .array(let parts) = json, parts.count == 6, case .string(let kind) = parts[0],
            case .string(let name) = parts[1], let change = Change(rawValue: name), case .integer(let id) = parts[2],
            case .string(let first) = parts[3]
        else { return nil }
        func text(_ part: JSONValue) -> String? { if case .string(let text) = part { text } else { nil } }
        let (second, third) = (text(parts[4]), text(parts[5]))
        self.change = change
        switch kind {
        case "record": subject = .record(SyncRecordID(id), action: first, path: second ?? "")
        case "issue": subject = .issue(IssueID(id), code: first)
        case "loop": subject = .loop(LoopKey(kind: LoopKind(second ?? ""), id: LoopID(first)))
        case "plugin": subject = .plugin(PluginID(first), state: second ?? "", reason: third)
        default: return nil
        }
    }
}
