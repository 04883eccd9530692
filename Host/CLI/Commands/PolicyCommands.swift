import ArgumentParser
import Core
import Model

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "List item policies.", subcommands: [PolicyList.self])
}

struct PolicyList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the policies, with how many items and bytes each is about.")

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("Only policies of this kind, such as availableOffline.", valueName: "kind"))
    var kind: String?
    @Option(help: ArgumentHelp("Only policies that concern this item.", valueName: "path")) var path: String?
    @Flag(help: "List internal policies too.") var `internal` = false

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
        var table = Table(["id", "kind", "items", "bytes", "where", "description"], numbers: [2, 3])
        for report in reports {
            table.add([
                report.policy.id.text, report.policy.kind.text, "\(report.items)", Text.bytes(report.bytes),
                report.policy.condition, report.policy.description ?? "",
            ])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}
