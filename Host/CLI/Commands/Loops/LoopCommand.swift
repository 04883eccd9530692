import ArgumentParser
import Core
import Model

struct LoopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loop", abstract: "Show what polls the server for events, and poll now.",
        subcommands: [LoopList.self, LoopPoll.self, LoopEnable.self, LoopDisable.self])
}

struct LoopPoll: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll", abstract: "Ask the server for events now.",
        discussion: """
            Polls the core loop and then the one that is named, or else all, until nothing is left to fetch; also one of \
            which the server offered nothing lately. Files that events are about are looked at by the next `larder run`. \
            A running host polls by itself.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The loop's id, as `loop list` shows it, or kind:id.") var id: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (loops, failures) = try await withAccount(global, console, asksServer: true) { host throws(Failure) in
            try await host.perform(Loops.Poll(named: id))
        }
        if loops.isEmpty, !global.isJSON { console.note("no plugin that is enabled has event loops") }
        console.show(loops, global)
        return failures
    }
}

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

private func setLoop(
    _ id: String, enabled: Bool, _ global: GlobalOptions, _ console: Console
) async throws(Failure) -> [Failure] {
    let loop = try await withAccount(global, console) { host throws(Failure) in
        try await host.perform(Loops.Switch(named: id, enabled: enabled))
    }
    if global.isJSON {
        console.print(JSON(loop))
    } else {
        let now = enabled ? "enabled: the next `larder run` polls it" : "disabled"
        console.print("loop \(Text.visible(loop.key.id.text)): \(now)")
    }
    return []
}
