import ArgumentParser
import Core
import Model

struct Free: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "free", abstract: "Remove the local copy of a file, or all local copies below a folder.",
        discussion: """
            The files stay on the server. Pinned files are not removed. Files that were changed here, that a program \
            has open or that are claimed stay, and are named in the output.
            """)

    /// The largest number of remaining files that are named.
    private static let mostNamed = 100

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        let outcome = try await carryOut(Copies.Free(path), global, console)
        if global.isJSON {
            for file in outcome.freed { console.print(JSONValue.object(["path": .string(file.text)])) }
        } else {
            console.print("\(Text.visible(path.text)): \(Text.count(outcome.freed.count, "copy", "copies")) removed")
        }
        let more = outcome.failures.count - Self.mostNamed
        guard more > 0 else { return outcome.failures }
        return outcome.failures.prefix(Self.mostNamed) + [Failure(.failed, "\(more) more files were not removed")]
    }
}
