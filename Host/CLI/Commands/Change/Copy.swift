import ArgumentParser
import Core
import Model

struct Copy: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "cp", abstract: "Copy a file, or a folder and everything below it, on the server.",
        discussion: """
            The server copies; nothing is downloaded or uploaded. Nothing may exist at the new path, and the folder above \
            it must exist.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var from: String
    @Argument(help: "The path of the copy.", completion: .itemPath) var to: String
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (from, to) = (try await global.itemPath(from), try await global.itemPath(to))
        return try await make(
            .copy(from, to: to), showing: to, "copied from \(Text.visible(from.text))", options, global, console)
    }
}
