import Core
import Model

extension Failure {
    /// An issue that waits for a person, as a run names it.
    init(_ issue: Issue) {
        let choices = issue.choices.map(\.id).joined(separator: ", ")
        self.init(
            issue.failure.ofOneItem, "issue \(issue.id): \(issue.message)",
            hint: choices.isEmpty ? nil : "larder issue resolve \(issue.id) CHOICE, where CHOICE is one of: \(choices)")
    }
}
