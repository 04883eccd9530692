import ArgumentParser
import Core
import Model

struct PolicyHistoryList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the changes of policies, the latest first: who changed what, and when.",
        discussion: """
            ▶ marks the change that `undo` takes back next. ○ marks changes that were undone and can be redone. · \
            marks changes that Larder made when a policy's target was moved; undo skips them. Times are in UTC.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("List at most this many changes.", valueName: "n")) var limit: Int?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        if let limit, limit < 0 { throw Failure(.usage, "--limit: \(limit) is negative") }
        let read = try await global.withReader { reader throws(Failure) in
            try await reader.policyHistory(limit: limit)
        }
        guard let report = read else { return [] }
        if global.isJSON {
            for step in report.steps { console.print(JSONValue(step)) }
        } else {
            for line in PolicyHistoryTable(report.steps).lines { console.print(line) }
        }
        if report.waiting > 0 {
            console.note(
                "larder: \(Text.count(report.waiting, "change")) not in the history yet; the next `larder run` adds "
                    + "the rest"
            )
        }
        return []
    }
}
