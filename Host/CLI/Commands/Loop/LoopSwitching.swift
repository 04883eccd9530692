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

/// Enables or disables the polling of a loop, and prints the loop's new state.
private func setLoop(
    _ id: String, enabled: Bool, _ global: GlobalOptions, _ console: Console
) async throws(Failure) -> [Failure] {
    let loop = try await carryOut(Loops.Switch(named: id, enabled: enabled), global, console)
    if global.isJSON {
        console.print(JSONValue(loop))
    } else {
        let now = enabled ? "enabled: the running host or the next `larder run` polls it" : "disabled"
        console.print("loop \(Text.visible(loop.key.id.text)): \(now)")
    }
    return []
}
