import ArgumentParser
import Core
import Model

struct LoopDisable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Stop polling a loop, until it is enabled again.",
        discussion: "What it has cached stays as it is.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The loop's id, as `loop list` shows it, or kind:id.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await setLoop(id, enabled: false, global, console)
    }
}
