import ArgumentParser
import Core
import Model

struct PolicyRedo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Do again what `undo` took back last.",
        discussion: "The next run acts on it. A new change of yours takes the place of what was undone.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await console.move(.redo, global)
        return []
    }
}
