import ArgumentParser
import Core
import Model

struct LoopPoll: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll", abstract: "Poll the server for events now.",
        discussion: """
            Polls the core loop and then the named loop, or all loops, until nothing is left to fetch. Loops for which \
            the server offered nothing lately are polled too. The next `larder run` checks the files that events are \
            about. A running host polls without this command.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The loop's id, as `loop list` shows it, or kind:id.") var id: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let outcome = try await carryOut(Loops.Poll(named: id), global, console, asksServer: true)
        if outcome.loops.isEmpty, !global.isJSON { console.note("no enabled plugin has event loops") }
        console.show(outcome.loops, global)
        return outcome.failures
    }
}
