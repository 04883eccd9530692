public import Model

/// What a check found wrong with a plugin.
public struct Finding: Error, Hashable, Sendable {
    /// What is wrong, as a sentence without a full stop.
    public var what: String
    /// What can be done about it, if that is not plain.
    public var advice: String?
    /// The id of the plugin; nil if the finding is about the library.
    public var plugin: String?
    /// What the check was doing: the trigger, the settings, the fault.
    public var doing: String?
    /// The path of the item or the id of the loop that the call was about.
    public var item: String?
    /// The number of the call into the plugin, from 1 on.
    public var call: UInt64?
    /// Whether the check's process ended in the check. Another process notes that, and it is no part of the text.
    public var endedProcess = false

    public init(_ what: String, advice: String? = nil, item: String? = nil) {
        (self.what, self.advice, self.item) = (what, advice, item)
    }

    /// The finding's parts by their names in JSON.
    public var members: [JSONValue.Member] {
        let texts = [("what", what), ("advice", advice), ("plugin", plugin), ("doing", doing), ("item", item)]
        var members = texts.compactMap { name, text in text.map { JSONValue.Member(name: name, value: .string($0)) } }
        if let call { members.append(JSONValue.Member(name: "call", value: .integer(Int64(clamping: call)))) }
        return members
    }
}

/// The result of a check.
public enum CheckOutcome: Hashable, Sendable {
    case passed
    /// The check has nothing to look at, with the reason.
    case skipped(String)
    /// The check found something.
    case found(Finding)

    /// The outcome as text for another process.
    public var text: String {
        let members: [JSONValue.Member] =
            switch self {
            case .passed: []
            case .skipped(let reason): [JSONValue.Member(name: "skipped", value: .string(reason))]
            case .found(let finding): finding.members
            }
        return JSONValue.object(members).text
    }

    /// Reads a outcome that another process wrote; nil if it makes no sense.
    public init?(reading text: String) {
        guard let json = try? JSONValue(parsing: text), case .object(let members) = json else { return nil }
        func word(_ name: String) -> String? { if case .string(let text)? = json[name] { text } else { nil } }
        if members.isEmpty {
            self = .passed
        } else if let reason = word("skipped") {
            self = .skipped(reason)
        } else {
            guard let what = word("what") else { return nil }
            var finding = Finding(what, advice: word("advice"), item: word("item"))
            (finding.plugin, finding.doing) = (word("plugin"), word("doing"))
            if case .integer(let call)? = json["call"] { finding.call = UInt64(clamping: call) }
            self = .found(finding)
        }
    }
}
