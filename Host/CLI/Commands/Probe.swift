import ArgumentParser
import Core
import Model

/// Opens a library in this process, which may die of it. The host calls it for libraries that it has not seen before.
struct Probe: LarderCommand {
    static let name = "__probe"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @OptionGroup var global: GlobalOptions
    @Argument var library: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] { PluginTrial.main(library: library) }
}
