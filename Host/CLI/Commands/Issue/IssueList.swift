import ArgumentParser
import Core
import Model

struct IssueList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the issues that wait for a person, with their choices.")

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("List at most this many issues, the oldest first.", valueName: "count")) var limit = 1000

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard limit > 0 else { throw Failure(.usage, "--limit must be at least 1") }
        let read = try await global.withReader { reader throws(Failure) in
            (issues: try await reader.issues(limit: limit), count: try await reader.status().issues)
        }
        guard let (issues, count) = read else { return [] }
        if count > issues.count {
            console.note(
                "\(count - issues.count) more issues are not listed; `larder issue list --limit \(count)` lists all")
        }
        for issue in issues {
            if global.isJSON {
                console.print(JSONValue(issue))
            } else {
                for line in IssueText(issue).lines { console.print(line) }
            }
        }
        return []
    }
}

/// An issue for people, with the commands that resolve it.
struct IssueText {
    let lines: [String]

    init(_ issue: Issue) {
        var lines = ["\(issue.id)  \(issue.code)  \(Text.visible(issue.message))"]
        for choice in issue.choices {
            let warning = choice.impact == .dataLoss ? " (data is lost)" : ""
            lines.append("   larder issue resolve \(issue.id) \(choice.id)   \(Text.visible(choice.label))\(warning)")
        }
        self.lines = lines
    }
}
