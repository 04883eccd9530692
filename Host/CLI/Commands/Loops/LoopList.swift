import ArgumentParser
import Core
import Model

struct LoopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loop", abstract: "Show what polls the server for events.", subcommands: [LoopList.self])
}

struct LoopList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the event loops, and what their last polls came to, without network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let reader = try global.loadConfig().oneAccount().reader()
        let loops = try await reader?.loops() ?? []
        try reader?.close()
        if global.isJSON {
            for loop in loops { console.print(JSON(loop)) }
            return []
        }
        if loops.isEmpty { console.note("no loops are known yet; `larder run --once` begins them") }
        var table = Table(["id", "kind", "result", "last poll", "next poll", "error"])
        for loop in loops {
            table.add([
                loop.key.id.text, loop.key.kind.text, loop.isEnabled ? loop.lastResult?.rawValue ?? "-" : "disabled",
                Text.time(loop.lastPoll), Text.time(loop.nextPoll), loop.lastError ?? "",
            ])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}

extension JSON {
    init(_ loop: LoopState) {
        self = .object([
            "id": .text(loop.key.id.text), "kind": .text(loop.key.kind.text), "plugin": .text(loop.plugin.text),
            "enabled": .bool(loop.isEnabled), "eventID": .text(loop.eventID?.text), "lastPoll": .time(loop.lastPoll),
            "lastResult": .text(loop.lastResult?.rawValue), "lastError": .text(loop.lastError),
            "nextPoll": .time(loop.nextPoll),
        ])
    }
}
