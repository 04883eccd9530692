import ArgumentParser
import Core
import Model

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the config.",
        subcommands: [ConfigShow.self, ConfigValidate.self])
}

struct ConfigShow: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print every setting with its value and where it comes from.",
        discussion: """
            Plugins that are enabled are opened, in a process of their own first, to see what holds for settings that the \
            config leaves out. Of the others what the config says is printed.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        config.warn(console)
        let settings = config.shown(with: try await triedPlugins(config, console))
        if global.isJSON {
            for setting in settings { console.print(JSON(setting)) }
            return []
        }
        var table = Table(["setting", "value", "source"])
        for setting in settings { table.add([setting.key, Self.text(setting.value), setting.source.description]) }
        for line in table.lines { console.print(line) }
        return []
    }

    private static func text(_ value: JSON) -> String {
        switch value {
        case .null: "-"
        case .text(let text): text
        default: value.rendered
        }
    }
}

struct ConfigValidate: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check the config, and that the secrets and certificates that it names are there.",
        discussion: """
            Plugins that are enabled are opened, in a process of their own first, to see what they can be set to. A command that \
            prints a secret is not run.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (config, _, process) = try await global.openPlugins(console, for: .validation) { config throws(Failure) in
            config.warn(console)
            return try config.namedAccounts()
        }
        try await process.close()
        if global.isJSON {
            console.print(.object(["valid": .bool(true), "file": .text(config.file)]))
        } else {
            console.print("\(config.file): \(Text.count(config.accounts.count, "account")), no problems")
        }
        return []
    }
}
