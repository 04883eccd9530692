import ArgumentParser
import Core
import Model

struct ConfigValidate: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check the config, and that the secrets and certificates that it names exist.",
        discussion: """
            Opens the enabled plugins, in a separate process first, to read which settings they accept. Does not run \
            the commands that print secrets.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (config, _, process) = try await global.openPlugins(console, for: .validation) { config throws(Failure) in
            config.warn(console)
            return try config.namedAccounts()
        }
        try await process.close()
        if global.isJSON {
            console.print(.object(["valid": .bool(true), "file": .string(config.file)]))
        } else {
            console.print("\(config.file): \(Text.count(config.accounts.count, "account")), no problems")
        }
        return []
    }
}
