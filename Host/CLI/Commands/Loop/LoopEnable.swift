import ArgumentParser
import Core
import Model

struct LoopEnable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Let a loop be polled again.",
        discussion: "It goes on from where it was, behind those that are enabled.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The loop's id, as `loop list` shows it, or kind:id.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await setLoop(id, enabled: true, global, console)
    }
}
