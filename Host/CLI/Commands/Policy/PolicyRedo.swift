import ArgumentParser
import Core
import Model

struct PolicyRedo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Redo the change of policies that `undo` took back last.",
        discussion: "The host applies this. Once you make a new change, undone changes can no longer be redone.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await console.move(.redo, global)
        return []
    }
}
