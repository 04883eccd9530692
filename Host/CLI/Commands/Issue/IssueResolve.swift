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
    @Argument(
        help: ArgumentHelp("The issue's id (not with --all) and the choice.", valueName: "id choice"),
        completion: .issueID)
    var words: [String] = []

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let command = try command()
        let answers = try await carryOut(command, global, console)
        if answers.isEmpty, !global.isJSON { console.print("no issue has the code \(Text.visible(code ?? ""))") }
        for answer in answers where answer.failure == nil {
            let json = JSONValue.object(["id": .id(answer.id), "choice": .string(command.choice)])
            console.print(global.isJSON ? json.text : "issue \(answer.id): \(command.choice)")
        }
        return answers.compactMap(\.failure)
    }

    private func command() throws(Failure) -> Issues.Answer {
        let usage = Failure(
            .usage, "an issue's id and a choice are needed, or --all with --code and a choice",
            hint: "`larder issue list` shows the ids, codes and choices")
        guard all else {
            guard words.count == 2, code == nil, let id = Int64(words[0]).map(IssueID.init) else { throw usage }
            return Issues.Answer(id, choice: words[1])
        }
        guard words.count == 1, let code else { throw usage }
        return Issues.Answer(allWith: code, choice: words[0])
    }
}
