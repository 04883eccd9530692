import ArgumentParser
import Core
import Model

struct LoopList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the event loops and the results of their last polls, without using the network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let loops = try await global.withReader { reader throws(Failure) in try await reader.loops() } ?? []
        if loops.isEmpty, !global.isJSON { console.note("no loops are known yet; `larder run --once` starts them") }
        console.show(loops, global)
        return []
    }
}

extension Console {
    /// Prints event loops: one JSON object for each, or all as a table.
    func show(_ loops: [LoopState], _ global: GlobalOptions) {
        if global.isJSON {
            for loop in loops { print(JSONValue(loop)) }
            return
        }
        // The id stands last, because the ids of some servers are longer than a line.
        var table = Table(["kind", "result", "last poll", "next poll", "error", "id"])
        for loop in loops {
            table.add([
                loop.key.kind.text, loop.isEnabled ? loop.lastResult?.rawValue ?? "-" : "disabled",
                Text.time(loop.lastPoll), Text.time(loop.nextPoll), loop.lastError ?? "-", loop.key.id.text,
            ])
        }
        for line in table.lines { print(line) }
    }
}
