import Model

/// A schedule of restarts for an account of a running host that could not be opened or could not go on.
///
/// After a failure that may pass, the account waits, longer each time. A failure that only a person can remove ends the
/// account at its start, when that person is most likely present. A host with one account ends where another process
/// could take its place: a service manager starts it anew, and its exit code tells why. A host with several accounts
/// goes on for the others, and so this account waits as well.
struct Restarts {
    enum Decision: Equatable {
        case ends
        case waits(Duration)
    }

    /// The first pause in a series of failures, and the longest.
    static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(30))
    /// The time for which an account must run to count as going on. The next failure then counts as the first again.
    static let recovery = Duration.seconds(60)

    /// Whether the host has no other account.
    var isAlone: Bool
    private var failuresInARow = 0
    private var wasOpen: Bool

    init(isAlone: Bool, wasOpen: Bool = false) { (self.isAlone, self.wasOpen) = (isAlone, wasOpen) }

    /// Decides on a failure.
    /// - Parameters:
    ///   - failure: The failure.
    ///   - worked: How long the account ran before; nil if it could not be opened.
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
        // An example is a tree that is not mounted, from which nothing may be concluded: the exit code 74 says so.
        if isAlone, failure.needsPerson || failure.kind == .internal { return false }
        if wasOpen { return true }
        switch failure.kind {
        case .config, .vaultLocked: return false
        default: return !isAlone
        }
    }
}
