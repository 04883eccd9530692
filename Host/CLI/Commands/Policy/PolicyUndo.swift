import ArgumentParser
import Core
import Model

struct PolicyUndo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back the last change of policies, whoever made it.",
        discussion: """
            The next run acts on it. A policy that was added is removed, one that was removed is added again, and of one that was \
            changed only what was changed is set back; if that was changed again since, nothing is. `larder policy history` \
            shows what would be undone.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await console.move(.undo, global)
        return []
    }
}
