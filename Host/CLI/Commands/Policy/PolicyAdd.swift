import ArgumentParser
import Core
import Model

struct PolicyAdd: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a policy for the items that meet a condition.",
        discussion: "The host applies the policy. `larder ls -r --where` lists the items that meet a condition.")

    @OptionGroup var global: GlobalOptions
    @Option(
        help: ArgumentHelp(
            "The policy's kind, which says which plugin applies it, such as availableOffline.", valueName: "kind"))
    var kind: String
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("The condition that says to which items the policy applies.", valueName: "cond"))
    var condition: String
    @Option(
        help: ArgumentHelp("A name by which to update and remove the policy. Default: a random id.", valueName: "id"))
    var id: String?
    @Option(help: ArgumentHelp("A description of the policy's purpose.", valueName: "text")) var description: String?
    @Option(
        help: ArgumentHelp(
            "Remove the policy when a finished scan leaves no item that meets this condition.", valueName: "cond"))
    var removeWhenNone: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard !kind.isEmpty else { throw Failure(.usage, "--kind: the kind is empty") }
        _ = try CLIArgument.condition(condition, of: "--where")
        if let removeWhenNone { _ = try CLIArgument.condition(removeWhenNone, of: "--remove-when-none") }
        let id: PolicyID = if let text = self.id { try CLIArgument.policyID(text) } else { .random() }
        let policy = ItemPolicy(
            id: id, kind: PolicyKind(kind), identifier: self.id, description: description, condition: condition,
            removeWhenNone: removeWhenNone)
        let outcome = try await carryOut(Policies.Add(policy), global, console)
        let (stored, kinds) = (outcome.policy, outcome.kinds)
        if !kinds.contains(stored.kind) { warn(of: stored.kind, kinds, console) }
        console.report(stored, "was added", global)
        return []
    }

    private func warn(of kind: PolicyKind, _ known: [PolicyKind], _ console: Console) {
        let names = known.map(\.text).sorted()
        let meant = nearestName(to: kind.text, among: names, ifLikely: true).map { "; did you mean `\($0)`?" } ?? "."
        let list = names.isEmpty ? "none" : names.joined(separator: ", ")
        console.note(
            "larder: no enabled plugin processes policies of the kind `\(Text.visible(kind.text))`\(meant) "
                + "Known kinds: \(list)"
        )
    }
}
