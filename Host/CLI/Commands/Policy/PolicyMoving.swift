import Core
import Model

extension Console {
    /// Undoes or redoes a change of policies, and prints that change.
    func move(_ direction: PolicyMove.Direction, _ global: GlobalOptions) async throws(Failure) {
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
