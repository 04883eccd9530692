import ArgumentParser
import Core
import Model

struct IssueResolve: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Resolve an issue, or all issues with one code.",
        usage: """
            larder issue resolve [<options>] <id> <choice>
            larder issue resolve [<options>] --all --code <code> <choice>
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Resolve all issues that have the code.") var all = false
    @Option(help: ArgumentHelp("The code of the issues that --all resolves.", valueName: "code")) var code: String?
    @Argument(help: ArgumentHelp("The issue's id (not with --all) and the choice.", valueName: "id choice"))
    var words: [String] = []

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (ids, choice) = try await targets()
        if ids.isEmpty, !global.isJSON { console.print("no issue has the code \(Text.visible(code ?? ""))") }
        return try await withAccount(global, console) { host throws(Failure) in
            var failures: [Failure] = []
            for id in ids {
                do throws(Failure) {
                    try await host.perform(Issues.Answer(id, choice: choice))
                    let json = JSONValue.object(["id": .id(id), "choice": .string(choice)])
                    console.print(global.isJSON ? json.text : "issue \(id): \(choice)")
                } catch {
                    failures.append(error)
                }
            }
            return failures
        }
    }

    private func targets() async throws(Failure) -> (ids: [IssueID], choice: String) {
        let usage = Failure(
            .usage, "an issue's id and a choice are needed, or --all with --code and a choice",
            hint: "`larder issue list` shows the ids, codes and choices")
        guard all else {
            guard words.count == 2, code == nil, let id = Int64(words[0]).map(IssueID.init) else { throw usage }
            return ([id], words[1])
        }
        guard words.count == 1, let code else { throw usage }
        let reader = try global.loadConfig().oneAccount().reader()
        let issues = try await reader?.issues() ?? []
        try reader?.close()
        return (issues.filter { $0.code == code }.map(\.id), words[0])
    }
}
