import ArgumentParser
import Core
import Model

struct Touch: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "touch", abstract: "Set the modification time of a file on the server.",
        discussion: """
            The copy here gets the time too; nothing is downloaded or uploaded. Servers keep whole seconds. Only servers \
            of the ownCloud family let a client set the time.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @Option(help: "The time, such as 2026-11-26T09:30:00Z (default: now).") var time: String?
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let time = try time.map { text throws(Failure) in try CLIArgument.time(text, of: "--time") } ?? .now()
        return try await make(
            .setModificationTime(path, time), showing: path, "modified \(Timestamp(seconds: time.seconds))", options,
            global, console)
    }
}
