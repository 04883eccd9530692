import ArgumentParser
import Core
import Model

/// A hidden command that opens a library in its own process, which the library may crash. The host runs this command
/// for libraries that it has not opened before.
struct Probe: LarderCommand {
    static let name = "__probe"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @OptionGroup var global: GlobalOptions
    @Argument var library: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] { PluginTrial.main(library: library) }
}
