import ArgumentParser
import Core
import Model

struct Use: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Mark a file, or all copies below a folder, as used now.",
        discussion: "If the config says so, a downloaded copy is removed some time after its last use.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let count = try await carryOut(Copies.NoteUse(path), global, console)
        console.print(
            global.isJSON
                ? JSONValue.object(["path": .string(path.text), "files": .integer(count)]).text
                : "\(Text.visible(path.text)): \(Text.count(count, "file")) marked as used now")
        return []
    }
}
