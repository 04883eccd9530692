import ArgumentParser
import Core
import Model

struct PluginRecords: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "records", abstract: "Show the records that a plugin's event loops keep in an account.",
        discussion: """
            Prints one record a line, by collection and key: the size of its content, its collection, its key, its \
            version and the beginning of its value. With --json the values are whole. Ends with the room that the \
            records take. Starts no plugin.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String
    @Argument(help: "Only the records of this collection.") var collection: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let account = try config.oneAccount()
        let collection = collection.map { RecordCollection($0) }
        let isJSON = global.isJSON
        let read = try await account.withReader { reader throws(Failure) in
            let id = try await config.keeper(plugin, reader, account, console)
            let total = try await reader.records(keptBy: id, in: collection) { kept in
                console.print(isJSON ? JSONValue(kept).text : kept.line)
            }
            return (id: id, total: total)
        }
        if let read {
            show(read.total, of: read.id, config, console)
        } else {
            let id = try await config.keeper(plugin, nil, account, console)
            if let collection { throw .noCollection(collection, of: id, among: []) }
            show(KeptTotal(), of: id, config, console)
        }
        return []
    }

    private func show(_ total: KeptTotal, of id: PluginID, _ config: Config, _ console: Console) {
        let quota = config.pluginSettings(of: id)?.recordQuota ?? PluginSettings.defaultRecordQuota
        // The quota is that of all collections together.
        console.show(total, "record", of: id, quota: collection == nil ? quota : nil, isJSON: global.isJSON)
    }
}

extension KeptRecord {
    fileprivate var line: String {
        let texts = [collection.text, record.key.text, record.version.isEmpty ? "-" : record.version, record.value]
        let columns = [KeptText.size(contentSize)] + texts.map { KeptText.shown(Array($0.utf8)) }
        return columns.joined(separator: "  ")
    }
}

extension JSONValue {
    fileprivate init(_ kept: KeptRecord) {
        let record = kept.record
        self = .object([
            "collection": .string(kept.collection.text), "key": .string(record.key.text),
            "version": .string(record.version.isEmpty ? nil : record.version),
            "value": record.value.isEmpty ? .null : (try? JSONValue(parsing: record.value)) ?? .string(record.value),
            "contentSize": .integer(kept.contentSize),
        ])
    }
}
