import ArgumentParser
import Core
import Model

struct ClaimRemove: LarderCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a claim.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The claim's id, as `claim list` shows it.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await carryOut(Claims.Remove(ClaimID(id)), global, console)
        console.print(
            global.isJSON ? JSONValue.object(["id": .string(id)]).text : "claim \(Text.visible(id)): removed")
        return []
    }
}
