import ArgumentParser
import Core
import Model

struct LoopEnable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Poll an event loop again.",
        discussion: "The loop continues from its last event id. It is polled after the loops that are enabled already.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The loop's id, as `loop list` shows it, or kind:id.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await setLoop(id, enabled: true, global, console)
    }
}
