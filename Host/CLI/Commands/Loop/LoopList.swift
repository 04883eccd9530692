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
