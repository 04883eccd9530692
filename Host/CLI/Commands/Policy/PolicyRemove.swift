import ArgumentParser
import Core
import Model

struct PolicyRemove: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a policy.",
        discussion: "The plugin then decides what follows: copies that nothing else keeps may be removed.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The policy's id or identifier, as `policy list` shows it.", completion: .policyID) var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let policy = try await carryOut(Policies.Remove(named: id), global, console)
        console.report(policy, "was removed", global)
        return []
    }
}
