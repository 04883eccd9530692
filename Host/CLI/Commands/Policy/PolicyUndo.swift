import ArgumentParser
import Core
import Model

struct PolicyUndo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last change of policies, whoever made it.",
        discussion: """
            The next run applies this. An added policy is removed, and a removed policy is added again. Of a changed \
            policy, only the changed fields are restored; if one of them was changed again since, nothing is undone. \
            `larder policy history` shows which change would be undone.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await console.move(.undo, global)
        return []
    }
}
