import ArgumentParser
import Core
import Model

struct MakeFolder: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "mkdir", abstract: "Create a folder on the server.",
        discussion: "The folder above must exist. Without a network the folder is created later.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The folder's path on the server.", completion: .itemPath) var path: String
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        return try await make(.createFolder(path), showing: path, "created", options, global, console)
    }
}
