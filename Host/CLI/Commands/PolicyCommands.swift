import ArgumentParser
import Core
import Model

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "List, add, change and remove item policies, undo that, and run them.",
        subcommands: [
            PolicyAdd.self, PolicyList.self, PolicyUpdate.self, PolicyRemove.self, PolicyUndo.self, PolicyRedo.self,
            PolicyHistoryList.self, PolicyRun.self,
        ])
}

struct PolicyList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the policies, with how many items and bytes each is about.")

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("Only policies of this kind, such as availableOffline.", valueName: "kind"))
    var kind: String?
    @Option(help: ArgumentHelp("Only policies that concern this item.", valueName: "path")) var path: String?
    @Flag(help: "List internal policies too, whose identifier begins with `_sys.`.") var `internal` = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path: ItemPath? = if let text = path { try CLIArgument.path(text) } else { nil }
        guard let reader = try global.loadConfig().oneAccount().reader() else { return [] }
        let reports = try await reader.policies(
            kind: kind.map { PolicyKind($0) }, concerning: path, includesInternal: `internal`)
        try reader.close()
        if global.isJSON {
            for report in reports {
                console.print(JSON(report.policy, items: report.items, bytes: report.bytes))
            }
            return []
        }
        // An id may be longer than a line.
        var table = Table(["kind", "items", "bytes", "where", "description", "id"], numbers: [1, 2])
        for report in reports {
            table.add([
                report.policy.kind.text, "\(report.items)", Text.bytes(report.bytes), report.policy.condition,
                report.policy.description ?? "-", report.policy.id.text,
            ])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}

struct PolicyAdd: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a policy for the items that meet a condition.",
        discussion: "The next run acts on it. `larder ls -r --where` shows which items a condition is about.")

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("Which plugin's policy it is, such as availableOffline.", valueName: "kind"))
    var kind: String
    @Option(name: .customLong("where"), help: ArgumentHelp("The items that it is for.", valueName: "cond"))
    var condition: String
    @Option(help: ArgumentHelp("A name to update and remove it by; a random one if left out.", valueName: "id"))
    var id: String?
    @Option(help: ArgumentHelp("What it is for, in your words.", valueName: "text")) var description: String?
    @Option(
        help: ArgumentHelp(
            "The policy goes when a finished scan leaves no item that meets this condition.", valueName: "cond"))
    var removeWhenNone: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard !kind.isEmpty else { throw Failure(.usage, "--kind: the kind is empty") }
        _ = try CLIArgument.condition(condition, of: "--where")
        if let removeWhenNone { _ = try CLIArgument.condition(removeWhenNone, of: "--remove-when-none") }
        let id: PolicyID = if let text = self.id { try CLIArgument.policyID(text) } else { .random() }
        let policy = ItemPolicy(
            id: id, kind: PolicyKind(kind), identifier: self.id, description: description, condition: condition,
            removeWhenNone: removeWhenNone)
        let (stored, kinds) = try await withAccount(global, console) { host throws(Failure) in
            (try await host.perform(Policies.Add(policy)), await host.policyKinds())
        }
        if !kinds.contains(stored.kind) { warn(of: stored.kind, kinds, console) }
        console.report(stored, "was added", global)
        return []
    }

    private func warn(of kind: PolicyKind, _ known: [PolicyKind], _ console: Console) {
        let names = known.map(\.text).sorted()
        let meant = nearestName(to: kind.text, among: names, ifLikely: true).map { "; did you mean `\($0)`?" } ?? ""
        let list = names.isEmpty ? "none" : names.joined(separator: ", ")
        console.note(
            "larder: no plugin that is enabled processes policies of the kind `\(Text.visible(kind.text))`\(meant) Known: \(list)"
        )
    }
}

struct PolicyUpdate: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change a policy; what is not named stays as it is.",
        discussion: "An empty description or --remove-when-none takes it away. A policy's kind cannot be changed.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The policy's id or identifier, as `policy list` shows it.") var id: String
    @Option(name: .customLong("where"), help: ArgumentHelp("The items that it is for.", valueName: "cond"))
    var condition: String?
    @Option(help: ArgumentHelp("What it is for, in your words.", valueName: "text")) var description: String?
    @Option(
        help: ArgumentHelp(
            "The policy goes when a finished scan leaves no item that meets this condition.", valueName: "cond"))
    var removeWhenNone: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let change = PolicyChange(condition: condition, description: description, removeWhenNone: removeWhenNone)
        guard !change.isEmpty else {
            throw Failure(
                .usage, "nothing to change was named", hint: "give --where, --description or --remove-when-none")
        }
        if let condition { _ = try CLIArgument.condition(condition, of: "--where") }
        if let removeWhenNone, !removeWhenNone.isEmpty {
            _ = try CLIArgument.condition(removeWhenNone, of: "--remove-when-none")
        }
        let policy = try await withAccount(global, console) { host throws(Failure) in
            try await host.perform(Policies.Update(named: id, change))
        }
        console.report(policy, "was changed", global)
        return []
    }
}

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

extension Console {
    /// What became of a policy.
    fileprivate func report(_ policy: ItemPolicy, _ what: String, _ global: GlobalOptions) {
        if global.isJSON {
            print(JSON(policy, items: nil, bytes: nil))
        } else {
            print("policy \(Text.visible(policy.id.text)) \(what): the next `larder run` acts on it")
        }
    }
}
