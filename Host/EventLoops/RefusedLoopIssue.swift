import Database
import Model

/// The issue about a loop whose requests the server refuses.
enum RefusedLoopIssue {
    static let code = "loop.refused"
}

extension Transaction {
    /// Removes the issues about a removed loop.
    func forgetIssues(of key: LoopKey) throws {
        try issues.remove(code: RefusedLoopIssue.code, subject: key.description)
        try records.endHold(of: key.description)
    }

    /// Files the issue about a loop, or removes the issue once a turn succeeded. After another failure the issue stays
    /// as it is.
    func note(_ refusal: Failure?, of loop: LoopState, at time: Timestamp) throws {
        if refusal == nil, loop.lastResult == .error { return }
        let subject = loop.key.description
        guard let refusal, try loops.loop(loop.key) != nil else {
            try issues.remove(code: RefusedLoopIssue.code, subject: subject)
            return
        }
        let message =
            "\(refusal.message). The loop \(subject) waits and is tried again, after 30 seconds at first and after "
            + "15 minutes at most; files are synchronized meanwhile"
        // The issue is filed anew only if its message is new, since each attempt finds the cause again.
        guard try issues.issue(code: RefusedLoopIssue.code, subject: subject)?.message != message else { return }
        try issues.file(
            Issue(
                code: RefusedLoopIssue.code, subject: subject, message: message, choices: [], created: time,
                failure: .denied))
    }
}
