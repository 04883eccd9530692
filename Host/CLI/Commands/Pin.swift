import ArgumentParser
import Core
import Model

struct Pin: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep a file, or a folder with all below it, available offline.",
        discussion: "Before anything is known of the server any path is accepted. The next run fetches what is missing."
    )

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server; / is everything.") var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        let outcome = try await withAccount(global, console) { host throws(Failure) in
            try await host.perform(Pins.Add(path))
        }
        if global.isJSON {
            console.print(JSONValue(outcome.policy, items: nil, bytes: nil))
            return []
        }
        console.print("\(Text.visible(path.text)) is available offline: the next `larder run` fetches what is missing")
        for policy in outcome.redundant {
            let target = Text.visible(policy.path?.text ?? policy.condition)
            console.print("  the policy for \(target) (\(policy.id)) says nothing more beside it")
        }
        return []
    }
}
