import LarderSDK

/// The processor of reader.c, by the SDK for Swift.
struct Reader: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.example.reader", name: "Reader", version: "1.0.0", required: [.config, .log])
    static let kind = "reader"
    static let fields: ItemFields = [.path, .size, .lastUsed]
    static let settingsSchema: String? = #"{"properties": {"match": {"type": "string", "default": "true"}}}"#

    private let log: Host.Log
    private let match: String
    private var rows = 0
    private var sum: Int64 = 0

    init(host: Host) throws(PluginError) {
        log = try host.require(host.log, .log)
        match = try host.settings()["match"]?.string ?? ""
    }

    var triggers: TriggerSet { .all }
    var matchCondition: String? { match }

    mutating func beginMatching(for trigger: Trigger) throws(PluginError) { (rows, sum) = (0, 0) }

    mutating func performAction(on item: Item, for trigger: Trigger) throws(PluginError) {
        rows += 1
        if let path = item.path {
            let utf8 = path.utf8
            sum += Int64(utf8.count) + Int64(utf8.isEmpty ? 0 : utf8[0])
        }
        sum += (item.size ?? 0) + (item.lastUsed ?? 0)
    }

    mutating func endMatching(for trigger: Trigger) throws(PluginError) { log.info("\(rows) \(sum)") }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(Reader.self, to: module)
}
