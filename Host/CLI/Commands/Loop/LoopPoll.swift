import ArgumentParser
import Core
import Model

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
