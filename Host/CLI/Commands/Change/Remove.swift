import ArgumentParser
import Core
import Model

struct Remove: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Delete a file, or a folder and everything below it, on the server.",
        discussion: """
            Only what is known is deleted: what is new or has changed on the server since, and what no listing shows, \
            becomes an issue. Files that were changed here, or exist only here, stay here. The copies go after the \
            server's answer. `larder free` removes copies and leaves the server alone.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        return try await make(.delete(path), showing: path, "deleted", options, global, console)
    }
}
