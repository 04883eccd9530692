import ArgumentParser
import Model

/// A command of the program.
protocol LarderCommand: AsyncParsableCommand {
    var global: GlobalOptions { get }

    /// Does what the command is for.
    /// - Returns: what failed though the command went on; it is printed, and the worst makes the exit code.
    func perform(_ console: Console) async throws(Failure) -> [Failure]
}
