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

extension Console {
    /// Undoes or redoes a change of policies, and prints that change.
    fileprivate func move(_ direction: PolicyMove.Direction, _ global: GlobalOptions) async throws(Failure) {
        let outcome = try await carryOut(Policies.Move(direction), global, self)
        let word = direction == .undo ? "undone" : "redone"
        if global.isJSON {
            print(JSONValue(outcome.step))
        } else {
            let lines = PolicyHistoryTable.lines(of: outcome.step.step)
            let author = outcome.step.step.author
            print(
                "\(word) the change that \(PolicyHistoryTable.name(of: author)) made at \(Text.time(author.time)): "
                    + lines[0])
            for line in lines.dropFirst() { print("  \(line)") }
            print("the running host or the next `larder run` applies this")
        }
        for policy in outcome.gone { note("larder: the policy \(Text.visible(policy.id.text)) no longer existed") }
    }
}
