import ArgumentParser
import Core
import Model

struct PolicyRun: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the plugins' processors for one trigger, without a server.",
        discussion: """
            Removals of copies are done at once; downloads wait for the next `larder run`. Each plugin uses some of \
            the triggers, and does nothing for the others: vacuum only uses those of a finished scan. With --dry-run, nothing is \
            done: the actions that each plugin would request are printed. --dry-run also works while a host is \
            running.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("One of \(Self.triggers.map(\.name).joined(separator: ", ")).", valueName: "trigger"))
    var trigger = Trigger.itemListUpdateCompleted.name
    @Flag(help: "Print what each plugin would do, and change nothing.") var dryRun = false

    /// The triggers after which all items are checked.
    private static let triggers = Trigger.allCases.filter { $0 != .itemsChanged }

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let trigger = try Trigger(typed: trigger, among: Self.triggers)
        if dryRun { return try await preview(trigger, console) }
        let outcome = try await carryOut(Policies.Run(trigger), global, console)
        let account = try global.loadConfig().oneAccount().bookmark.name
        if global.isJSON {
            console.print(
                JSONValue.object([
                    "account": .string(account), "trigger": .string(trigger.name),
                    "leftCount": .integer(outcome.leftCount),
                ]))
        } else {
            let left = Text.count(outcome.leftCount, "action waits", "actions wait")
            console.print(
                "\(account): \(trigger.name) was run; \(left) for "
                    + "the running host or the next `larder run`")
        }
        return outcome.failures
    }

    private func preview(_ trigger: Trigger, _ console: Console) async throws(Failure) -> [Failure] {
        let isJSON = global.isJSON
        try await withPreview(global, console) { preview throws(Failure) in
            try await preview.dryRun(trigger) { wish in
                console.print(isJSON ? JSONValue(wish).text : WishLine(wish).text)
            }
        }
        return []
    }
}

/// A wish's line for people.
private struct WishLine {
    let text: String

    init(_ wish: Wish) {
        text = [
            Text.padded(wish.plugin.shortName, to: 20), Text.padded(wish.call, to: 16),
            Text.padded(wish.would ?? "nothing", to: 15), Self.places(of: wish),
        ].joined(separator: "  ")
    }

    private static func places(of wish: Wish) -> String {
        let path = wish.path.map { Text.visible($0.text) } ?? "-"
        return wish.target.map { "\(path) to \(Text.visible($0.text))" } ?? path
    }
}

extension JSONValue {
    init(_ wish: Wish) {
        var members: [Member] = [
            Member(name: "plugin", value: .string(wish.plugin.text)), Member(name: "call", value: .string(wish.call)),
            Member(name: "path", value: .string(wish.path?.text)), Member(name: "would", value: .string(wish.would)),
        ]
        if let target = wish.target { members.append(Member(name: "target", value: .string(target.text))) }
        self = .object(members)
    }
}
