import ArgumentParser
import Core
import Model

struct PolicyRemove: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a policy.",
        discussion: "What the next run does about it is the plugin's: copies that nothing else keeps may go.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The policy's id or identifier, as `policy list` shows it.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let policy = try await withAccount(global, console) { host throws(Failure) in
            try await host.perform(Policies.Remove(named: id))
        }
        console.report(policy, "was removed", global)
        return []
    }
}
