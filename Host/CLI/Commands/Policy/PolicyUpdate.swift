import ArgumentParser
import Core
import Model

struct PolicyUpdate: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change a policy; fields that are not given stay as they are.",
        discussion: "An empty --description or --remove-when-none clears the field. A policy's kind cannot be changed.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The policy's id or identifier, as `policy list` shows it.", completion: .policyID) var id: String
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("The condition that says to which items the policy applies.", valueName: "cond"))
    var condition: String?
    @Option(help: ArgumentHelp("A description of the policy's purpose.", valueName: "text")) var description: String?
    @Option(
        help: ArgumentHelp(
            "Remove the policy when a finished scan leaves no item that meets this condition.", valueName: "cond"))
    var removeWhenNone: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let change = PolicyChange(condition: condition, description: description, removeWhenNone: removeWhenNone)
        guard !change.isEmpty else {
            throw Failure(
                .usage, "no change was given", hint: "give --where, --description or --remove-when-none")
        }
        if let condition { _ = try CLIArgument.condition(condition, of: "--where") }
        if let removeWhenNone, !removeWhenNone.isEmpty {
            _ = try CLIArgument.condition(removeWhenNone, of: "--remove-when-none")
        }
        let policy = try await carryOut(Policies.Update(named: id, change), global, console)
        console.report(policy, "was changed", global)
        return []
    }
}
