import Model

/// Decides what becomes of an account of a running host that could not be opened, or could not go on.
///
/// What may pass is waited for, each time longer. What does not pass without a person ends the account at its start, when that person is
/// most likely there. A host with one account ends where another could take its place: a service manager starts it anew, and its exit
/// code tells why. One with several accounts goes on for the others, and so this account waits as well.
struct Restarts {
    enum Decision: Equatable {
        case ends
        case waits(Duration)
    }

    /// After the first failure in a row, and at most.
    static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(30))
    /// An account that worked for so long has gone on: the next failure is the first again.
    static let recovery = Duration.seconds(60)

    /// Whether the host has no other account.
    let isAlone: Bool
    private var failuresInARow = 0
    private var wasOpen = false

    init(isAlone: Bool) { self.isAlone = isAlone }

    /// - Parameter worked: how long it was at work before; nil: it could not be opened.
    mutating func next(after failure: Failure, worked: Duration?) -> Decision {
        if let worked {
            wasOpen = true
            if worked >= Self.recovery { failuresInARow = 0 }
        }
        guard passes(failure) else { return .ends }
        failuresInARow += 1
        var pause = Self.pauses.first
        for _ in 1..<failuresInARow where pause < Self.pauses.longest { pause = min(pause * 2, Self.pauses.longest) }
        return .waits(pause)
    }

    private func passes(_ failure: Failure) -> Bool {
        if failure.endsAccount { return false }
        // Such as a tree that is not mounted, of which nothing may be concluded: the exit code 74 says so.
        if isAlone, failure.needsPerson || failure.kind == .internal { return false }
        if wasOpen { return true }
        switch failure.kind {
        case .config, .vaultLocked: return false
        default: return !isAlone
        }
    }
}
