import Core
import Model

extension JSONValue {
    /// Makes the JSON of an event of a change feed.
    /// - Parameters:
    ///   - number: The event's number in its stream, from 1.
    ///   - account: The account's name.
    ///   - time: The time at which the event is told.
    init(_ event: FeedEvent, number: Int, account: String, time: Timestamp) {
        let (kind, change, object) = event.content.parts
        var members: [Member] = [
            Member(name: "id", value: .integer(number)),
            Member(name: "position", value: .string(event.position.description)),
            Member(name: "time", value: .time(time)),
            Member(name: "account", value: .string(account)),
            Member(name: "kind", value: .string(kind)),
            Member(name: "change", value: .string(change?.rawValue)),
        ]
        if case .gap(let from, let to) = event.content {
            members.append(Member(name: "from", value: .string(from.description)))
            members.append(Member(name: "to", value: .string(to.description)))
        }
        if let object { members.append(Member(name: kind, value: object)) }
        self = .object(members)
    }
}

extension FeedEvent.Content {
    /// The kind, the change, and the object under the name of the kind.
    fileprivate var parts: (kind: String, change: FeedEvent.Change?, object: JSONValue?) {
        switch self {
        case .item(let change, let report): ("item", change, JSONValue(report))
        case .record(let change, let report): ("record", change, JSONValue(report))
        case .recordGone(let id, let action, let path):
            ("record", .removed, .object(["id": .id(id), "action": .string(action), "path": .string(path)]))
        case .issue(let change, let issue): ("issue", change, JSONValue(issue))
        case .issueGone(let id, let code): ("issue", .removed, .object(["id": .id(id), "code": .string(code)]))
        case .loop(let change, let loop): ("loop", change, JSONValue(loop))
        case .loopGone(let key):
            ("loop", .removed, .object(["id": .string(key.id.text), "kind": .string(key.kind.text)]))
        case .plugin(let id, let state, let reason):
            ("plugin", .updated, .object(["id": .string(id.text), "state": .string(state), "reason": .string(reason)]))
        case .gap: ("gap", nil, nil)
        case .bookmark: ("bookmark", nil, nil)
        }
    }
}

/// The line of an event for people.
struct EventLine {
    let text: String

    /// - Parameter event: The event's JSON.
    init(_ event: JSONValue) {
        func text(_ value: JSONValue?) -> String {
            switch value {
            case .string(let text): Text.visible(text)
            case .integer(let number): "\(number)"
            default: "-"
            }
        }
        let kind = text(event["kind"])
        let object = event[kind]
        let words: String =
            switch kind {
            case "item": text(object?["path"]) + (object?["type"] == .string("folder") ? "/" : "")
            case "record": "\(text(object?["action"])) \(text(object?["path"]))"
            case "issue":
                "\(text(object?["id"])) \(object?["message"] == nil ? text(object?["code"]) : text(object?["message"]))"
            case "loop": "\(text(object?["kind"])) \(text(object?["id"])): \(text(object?["lastResult"]))"
            case "plugin": "\(text(object?["id"])): \(text(object?["state"]))"
            case "gap": "the changes since \(text(event["from"])) are not known: list everything anew"
            default: text(event["position"])
            }
        let time = if case .string(let time)? = event["time"] { time } else { "" }
        self.text = "\(time)  \(Text.padded(kind, to: 8))  \(Text.padded(text(event["change"]), to: 7))  \(words)"
    }
}
