import ArgumentParser
import Core
import Model

struct ClaimList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the valid claims, without using the network.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "Only claims of this file, or of all files below this folder.", completion: .itemPath) var path =
        "/"

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let reports = try await global.withReader { reader throws(Failure) in try await reader.claims(at: path) } ?? []
        if global.isJSON {
            for report in reports { console.print(JSONValue(report)) }
            return []
        }
        // The id stands last, because an id may be longer than a line.
        var table = Table(["path", "type", "valid", "id"])
        for report in reports {
            table.add([report.path.text, report.claim.kind.name, report.lasts, report.claim.id.text])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}
