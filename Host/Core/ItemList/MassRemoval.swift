import Model
import Storage

/// The issue about a scan that would take away too much at once.
enum MassRemoval {
    static let code = "list.removals"
    /// There is one for an account: what is missing, all together.
    static let subject = "/"
    static let wait = Issue.Choice(
        id: "wait", label: "Keep everything as it is, and see what the next scans find", impact: .nonDestructive)
    static let apply = Issue.Choice(
        id: "apply", label: "Take the items off the list; their copies go as policies say", impact: .dataLoss)

    fileprivate static func message(_ missing: Int, of known: Int, first: [ItemPath]) -> String {
        let names = first.map(\.text).joined(separator: ", ") + (missing > first.count ? ", …" : "")
        return "The server lists \(missing) of \(known) items no longer: \(names). Nothing is removed here before you "
            + "decide, and policies are not told of the scan. If the server lost them, bring them back there"
    }
}

extension Transaction {
    /// Decides about what a scan found missing: removes it, or, if it is too much, holds it in one issue until a person has
    /// decided or it is back.
    /// - Parameters:
    ///   - folder: Only what is missing there, outside of a scan; what is too much is then left for the next scan to tell.
    ///   - removalGuard: Nil: nothing is too much.
    /// - Returns: whether it is held.
    func settleMissing(
        in folder: ItemPath? = nil, guardedBy removalGuard: RemovalGuard?, at time: Timestamp
    ) throws -> Bool {
        guard try hasMissing() else {
            try deleteIssue(code: MassRemoval.code, subject: MassRemoval.subject)
            return false
        }
        let missing = try missingCount()
        if let removalGuard, try removalGuard.holds(missing, ofKnown: knownCount()) {
            guard folder == nil else { return true }
            let message = MassRemoval.message(missing, of: try knownCount(), first: try firstMissing(3))
            let before = try issue(code: MassRemoval.code, subject: MassRemoval.subject)
            // Told anew only if it is news: each scan finds it again.
            guard before?.message != message else { return true }
            try file(
                Issue(
                    code: MassRemoval.code, subject: MassRemoval.subject, message: message,
                    choices: [MassRemoval.wait, MassRemoval.apply], created: before?.created ?? time))
            return true
        }
        try removeMissing(in: folder, at: time)
        if folder == nil { try deleteIssue(code: MassRemoval.code, subject: MassRemoval.subject) }
        return false
    }

    /// Answers the issue. Told to wait, it stays.
    /// - Throws: `.badData` if the choice is none of its.
    func decideRemovals(_ issue: Issue, _ choice: String, at time: Timestamp) throws -> Bool {
        switch choice {
        case MassRemoval.apply.id:
            try removeMissing(at: time)
            try deleteIssue(id: issue.id)
        case MassRemoval.wait.id: break
        default:
            throw Failure(
                .badData, "\(choice) is no choice of issue \(issue.id)",
                hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
        }
        return true
    }
}
