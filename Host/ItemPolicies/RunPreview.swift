import Model
import PluginHost

/// A preview that notes the requests of a run instead of carrying them out. It is used on the plugin's thread only.
final class RunPreview {
    let trigger: Trigger
    /// The time that `now` stands for; nil for the time when the run began.
    let time: Timestamp?
    /// The conditions that the processor gave, parsed.
    var conditions: [ProcessorCalls.Pass: Condition] = [:]
    private let plugin: PluginID
    private let note: (Wish) -> Void
    private var isAsked = false

    init(_ trigger: Trigger, of plugin: PluginID, at time: Timestamp? = nil, _ note: @escaping (Wish) -> Void) {
        self.trigger = trigger
        self.time = time
        self.plugin = plugin
        self.note = note
    }

    func take(_ intents: [Intent], during call: StaticString, path: (LocalID) -> ItemPath?) {
        let call = "\(call)"
        isAsked = call == "performAction" || call == "performCleanup"
        for intent in intents {
            var target: ItemPath?
            let subject: ItemPath?
            switch intent.change {
            case .addPolicy(let policy, _), .updatePolicy(let policy, _): subject = policy.path
            case .server(let change):
                let item = change.item.flatMap(path)
                (subject, target) = (item ?? change.target, change.item == nil ? nil : change.target)
            default: subject = intent.change.item.flatMap(path)
            }
            note(Wish(plugin: plugin, call: call, path: subject, target: target, would: intent.change.name))
        }
    }

    /// Notes that a call was made for an item. The requests of the call were noted before.
    func performed(_ pass: ProcessorCalls.Pass, on path: String) {
        defer { isAsked = false }
        guard !isAsked else { return }
        let call = pass == .matching ? "performAction" : "performCleanup"
        note(Wish(plugin: plugin, call: call, path: ItemPath(unchecked: path), would: nil))
    }
}
