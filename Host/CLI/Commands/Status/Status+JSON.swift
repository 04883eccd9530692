import Core
import Model

extension JSONValue {
    init(_ status: AccountStatus, busyWith: [String] = [], plugins: [PluginReport]) {
        let records = SyncRecord.State.allCases.map {
            Member(name: $0.name, value: .integer(status.records[$0] ?? 0))
        }
        self = .object([
            "account": .string(status.account),
            "connection": .string(status.connection.rawValue),
            "epoch": .integer(status.epoch),
            "anchor": .integer(status.anchor),
            "items": .integer(status.items),
            "localCopies": .integer(status.localCopies),
            "localBytes": .integer(status.localBytes),
            "locallyChanged": .integer(status.locallyChanged),
            "records": .object(records),
            "issues": .integer(status.issues),
            "policies": JSONValue(status.policies),
            "loops": JSONValue(status.loops),
            "plugins": .array(plugins.map { JSONValue($0) }),
            "refused": status.refusal.map {
                .object([
                    "message": .string($0.message), "since": .time($0.since), "nextTry": .time($0.nextTry),
                ])
            } ?? .null,
            "server": JSONValue(status.server),
            "nextPoll": .time(status.nextPoll),
            "paused": .bool(status.pause != nil),
            "pausedUntil": .time(status.pause?.until),
            "etagsWereWrong": .bool(status.etagsWereWrong),
            "trouble": JSONValue(status.trouble),
            "connectionProblem": .string(status.connectionProblem),
            "activity": .string(busyWith.isEmpty ? "idle" : "busy"),
            "busyWith": .strings(busyWith),
        ])
    }
}
