import Database
import Model

/// The issue about a loop that the server refuses what it asks for.
enum RefusedLoopIssue {
    static let code = "loop.refused"
}

extension Transaction {
    /// Takes back what is told of a loop that is gone.
    func forgetIssues(of key: LoopKey) throws {
        try issues.remove(code: RefusedLoopIssue.code, subject: key.description)
        try records.endHold(of: key.description)
    }

    /// Files the issue about a loop, or takes it back once a turn went well. After another failure it stays as it is.
    func note(_ refusal: Failure?, of loop: LoopState, at time: Timestamp) throws {
        if refusal == nil, loop.lastResult == .error { return }
        let subject = loop.key.description
        guard let refusal, try loops.loop(loop.key) != nil else {
            try issues.remove(code: RefusedLoopIssue.code, subject: subject)
            return
        }
        let message =
            "\(refusal.message). The loop \(subject) waits and is tried again, after half a minute at first and a quarter of an hour at "
            + "most; files go on"
        // Told anew only if it is news: each try finds it again.
        guard try issues.issue(code: RefusedLoopIssue.code, subject: subject)?.message != message else { return }
        try issues.file(
            Issue(
                code: RefusedLoopIssue.code, subject: subject, message: message, choices: [], created: time,
                failure: .denied))
    }
}
