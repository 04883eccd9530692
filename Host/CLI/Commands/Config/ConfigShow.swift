import ArgumentParser
import Core
import Model

struct ConfigShow: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print every setting with its value and where it comes from.",
        discussion: """
            Opens the enabled plugins, in a separate process first, to read the values of settings that the config \
            leaves out. For other plugins, prints the settings that the config has.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        config.warn(console)
        let settings = config.shown(with: try await triedPlugins(config, console))
        if global.isJSON {
            for setting in settings { console.print(JSONValue(setting)) }
            return []
        }
        var table = Table(["setting", "value", "source"])
        for setting in settings { table.add([setting.key, Self.text(setting.value), setting.source.description]) }
        for line in table.lines { console.print(line) }
        return []
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "-"
        case .string(let text): text
        default: value.text
        }
    }
}
