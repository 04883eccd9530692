import Core
import Model

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
