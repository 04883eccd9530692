import Database
import Model

/// The issue about a loop that cannot go on until a person does something.
enum RefusedLoopIssue {
    /// The code if the server refuses the loop's requests.
    static let code = "loop.refused"
    /// The code if the records of the loop's plugin would take more than their quota.
    static let fullCode = "loop.full"
}

extension Transaction {
    /// Removes the issues about a removed loop.
    func forgetIssues(of key: LoopKey) throws {
        try removeIssues(besides: nil, of: key.description)
        try records.endHold(of: key.description)
    }

    /// Files the issue about a loop, or removes the issue once a turn succeeded. After another failure the issue stays
    /// as it is.
    func note(_ refusal: Failure?, of loop: LoopState, at time: Timestamp) throws {
        if refusal == nil, loop.lastResult == .error { return }
        let subject = loop.key.description
        guard let refusal, try loops.loop(loop.key) != nil else {
            return try removeIssues(besides: nil, of: subject)
        }
        let isRefused = refusal.kind == .denied
        let code = isRefused ? RefusedLoopIssue.code : RefusedLoopIssue.fullCode
        try removeIssues(besides: code, of: subject)
        let consequence =
            isRefused
            ? "The loop \(subject) waits and is tried again, after 30 seconds at first and after 15 minutes at most; "
                + "files are synchronized meanwhile"
            : "The loop \(subject) keeps what it has, and is tried again until there is room"
        let message = "\(refusal.message). \(consequence)"
        // The issue is filed anew only if its message is new, since each attempt finds the cause again.
        guard try issues.issue(code: code, subject: subject)?.message != message else { return }
        try issues.file(
            Issue(
                code: code, subject: subject, message: message, choices: [], created: time, failure: refusal.kind))
    }

    private func removeIssues(besides kept: String?, of subject: String) throws {
        for code in [RefusedLoopIssue.code, RefusedLoopIssue.fullCode] where code != kept {
            try issues.remove(code: code, subject: subject)
        }
    }
}
