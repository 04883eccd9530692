import ArgumentParser
import Core
import Model

struct LoopDisable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Stop polling an event loop until it is enabled again.",
        discussion: "The records that the loop has cached stay as they are.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The loop's id, as `loop list` shows it, or kind:id.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await setLoop(id, enabled: false, global, console)
    }
}
