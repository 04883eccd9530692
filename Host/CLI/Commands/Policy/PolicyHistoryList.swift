import ArgumentParser
import Core
import Model

struct PolicyHistoryList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the changes of policies: who changed what, and when; the latest first.",
        discussion: """
            ▶ is what `undo` takes back next, ○ was undone and can be redone, · is what went by itself with a move of its target \
            and is passed over. Times are in UTC.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("List no more changes than this.", valueName: "n")) var limit: Int?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        if let limit, limit < 0 { throw Failure(.usage, "--limit: \(limit) is less than none") }
        guard let reader = try global.loadConfig().oneAccount().reader() else { return [] }
        let report = try await reader.policyHistory(limit: limit)
        try reader.close()
        if global.isJSON {
            for step in report.steps { console.print(JSONValue(step)) }
        } else {
            for line in PolicyHistoryTable(report.steps).lines { console.print(line) }
        }
        if report.waiting > 0 {
            console.note(
                "larder: \(Text.count(report.waiting, "change")) not in the history yet; the next `larder run` writes what is left"
            )
        }
        return []
    }
}
