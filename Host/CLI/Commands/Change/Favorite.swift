import ArgumentParser
import Core
import Model

struct Favorite: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "favorite", abstract: "Make a file or folder a favorite on the server.",
        discussion: "Only servers of the ownCloud family have favorites.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @Flag(help: "Make it a favorite no longer.") var off = false
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let done = off ? "no favorite any more" : "a favorite"
        return try await make(.setFavorite(path, !off), showing: path, done, options, global, console)
    }
}
