import ArgumentParser
import Core
import Model

struct PolicyList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the policies, with the number and size of the items of each.")

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("Only policies of this kind, such as availableOffline.", valueName: "kind"))
    var kind: String?
    @Option(help: ArgumentHelp("Only policies that concern this item.", valueName: "path"), completion: .itemPath)
    var path: String?
    @Flag(help: "List internal policies too, whose identifier begins with `_sys.`.") var `internal` = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path: ItemPath? = if let text = path { try await global.itemPath(text) } else { nil }
        let read = try await global.withReader { reader throws(Failure) in
            try await reader.policies(
                kind: kind.map { PolicyKind($0) }, concerning: path, includesInternal: `internal`)
        }
        let reports = read ?? []
        if global.isJSON {
            for report in reports { console.print(JSONValue(report)) }
            return []
        }
        // The id stands last, because an id may be longer than a line.
        var table = Table(["kind", "items", "bytes", "where", "description", "id"], numbers: [1, 2])
        for report in reports {
            table.add([
                report.policy.kind.text, "\(report.items ?? 0)", Text.bytes(report.bytes), report.policy.condition,
                report.policy.description ?? "-", report.policy.id.text,
            ])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}
