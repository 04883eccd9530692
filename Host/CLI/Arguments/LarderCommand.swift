import ArgumentParser
import Model

/// A command of the program.
protocol LarderCommand: AsyncParsableCommand {
    var global: GlobalOptions { get }

    /// Performs the command.
    /// - Returns: the failures after which the command went on. They are printed, and the worst one determines the exit
    ///   code.
    func perform(_ console: Console) async throws(Failure) -> [Failure]
}
