import Core
import Model

extension RunOutcome {
    /// A text that says what was done and how much is left.
    var summary: String {
        var parts: [String] = []
        if files > 0 { parts += ["\(Text.count(files, "file")) fetched", Text.bytes(bytes)] }
        if uploads > 0 { parts += ["\(Text.count(uploads, "file")) uploaded", Text.bytes(uploadedBytes)] }
        if changes > 0 { parts.append("\(Text.count(changes, "change")) of the server made") }
        if moves > 0 { parts.append("\(moves) moved") }
        if removed > 0 { parts.append("\(Text.count(removed, "copy", "copies")) removed") }
        if calendarObjects > 0 { parts.append("\(Text.count(calendarObjects, "calendar object")) brought up to date") }
        if parts.isEmpty { parts = ["nothing to fetch"] }
        if leftCount > 0 { parts.append("\(Text.count(leftCount, "file")) left") }
        return parts.joined(separator: ", ")
    }
}

extension JSONValue {
    init(_ outcome: RunOutcome, account: String) {
        self = .object([
            "account": .string(account),
            "files": .integer(outcome.files),
            "bytes": .integer(outcome.bytes),
            "uploads": .integer(outcome.uploads),
            "uploadedBytes": .integer(outcome.uploadedBytes),
            "changes": .integer(outcome.changes),
            "moves": .integer(outcome.moves),
            "removed": .integer(outcome.removed),
            "calendarObjects": .integer(outcome.calendarObjects),
            "left": .array(outcome.left.map { .object(["path": .string($0.path.text), "why": .string($0.why)]) }),
            "leftCount": .integer(outcome.leftCount),
            "issues": .array(outcome.issues.map { JSONValue($0) }),
        ])
    }
}

extension Failure {
    /// Makes the failure by which a run names an issue that waits for a person.
    init(_ issue: Issue) {
        let choices = issue.choices.map(\.id).joined(separator: ", ")
        self.init(
            issue.failure.ofOneItem, "issue \(issue.id): \(issue.message)",
            hint: choices.isEmpty
                ? nil : "run `larder issue resolve \(issue.id) CHOICE`, where CHOICE is one of: \(choices)")
    }
}
