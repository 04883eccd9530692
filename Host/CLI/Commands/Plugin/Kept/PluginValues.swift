import ArgumentParser
import Core
import Model

struct PluginValues: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "values", abstract: "Show the values that a plugin stored in an account.",
        discussion: """
            Prints one value a line, by key: its size, its key and its beginning. What is no text is shown as its bytes, \
            such as 0x00ff. With --json the values are whole; what is not UTF-8 is base64. Ends with the room that the \
            values take with their keys. Starts no plugin.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let account = try config.oneAccount()
        let isJSON = global.isJSON
        let read = try await account.withReader { reader throws(Failure) in
            let id = try await config.keeper(plugin, reader, account, console)
            let total = try await reader.values(of: id) { kept in
                console.print(isJSON ? JSONValue(kept).text : kept.line)
            }
            return (id: id, total: total)
        }
        let id = if let read { read.id } else { try await config.keeper(plugin, nil, account, console) }
        console.show(
            read?.total ?? KeptTotal(), "value", of: id,
            quota: config.pluginSettings(of: id)?.valueQuota ?? PluginSettings.defaultValueQuota,
            isJSON: isJSON)
        return []
    }
}

extension KeptValue {
    fileprivate var line: String {
        let columns = [KeptText.size(Int64(value.count)), KeptText.shown(key), KeptText.shown(value)]
        return columns.joined(separator: "  ")
    }
}

extension JSONValue {
    fileprivate init(_ kept: KeptValue) {
        let (key, keyEncoding) = KeptText.whole(kept.key)
        let (value, valueEncoding) = KeptText.whole(kept.value)
        self = .object([
            "key": .string(key), "keyEncoding": .string(keyEncoding), "value": .string(value),
            "valueEncoding": .string(valueEncoding), "size": .integer(kept.value.count),
        ])
    }
}
