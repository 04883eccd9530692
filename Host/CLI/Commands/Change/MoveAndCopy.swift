import ArgumentParser
import Core
import Model

struct Move: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv", abstract: "Move or rename a file or folder on the server.",
        discussion: """
            Copies and pins move along at once, and cost no download. Nothing may exist at the new path, and the folder \
            above it must exist.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var from: String
    @Argument(help: "The new path.", completion: .itemPath) var to: String
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (from, to) = (try await global.itemPath(from), try await global.itemPath(to))
        return try await make(
            .move(from, to: to), showing: to, "moved from \(Text.visible(from.text))", options, global, console)
    }
}

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
