import Connection
import Model

extension ServerSession {
    /// Whether the server can be used, with the reason if it cannot.
    enum State: Sendable {
        /// The server is to be found. The failure is that of the last attempt, if there was one.
        case seeking(after: Failure?)
        /// The server serves the account.
        case online(Online)
        /// The server rejects the account, or something about the server is not approved.
        case refused(Rejection)
        /// The server has answered that it cannot serve requests now.
        case unavailable(Failure)
        /// A person has paused the account.
        case paused(Hold)
        /// The account is closed.
        case closed
    }

    struct Online: Sendable {
        /// The facts about the server; nil if they are to be found again.
        var facts: ServerFacts?
        /// Whether a request was not served since, so that a scan is to find out whether any is.
        var isDoubted = false
    }

    struct Rejection: Sendable {
        enum Phase: Sendable {
            /// The rejection was reported. What sends requests is to be stopped.
            case reported
            /// Nothing sends requests. The secret's source is to be read.
            case held
            /// The server is not tried again yet.
            case kept
            /// The secret's source is read again at a time.
            case waiting(until: Duration)
        }

        var phase = Phase.reported
        /// The reason, if it is known.
        var failure: Failure?
        /// The error for what was not approved, while that is the reason.
        var unapproved: ConnectionError?
        /// Whether a person has asked for another attempt, or has answered what is to be approved.
        var isAnswered = false
        /// Whether a single run goes on, since the rejection came after the server was found.
        var goesOn = false
    }

    struct Hold: Sendable {
        var pause: AccountPause
        /// The end of the pause; nil if it has none.
        var end: Duration?
        /// Whether nothing sends requests any more.
        var isInForce = false
        /// What was the case when the pause began, or was reported since.
        var rejection: Rejection?
    }

    /// A poll of the server: the steps from the end of one rest to the beginning of the next.
    struct Round: Sendable {
        /// The round serves the polls that were asked for up to this number.
        var number: Int
        /// Whether a command wants all folders listed where ETags do not tell of changes.
        var walks: Bool
        /// Whether something else called for a scan of everything.
        var isCalled: Bool
    }

    /// A reason to begin a round before its time, the one that asks for most last.
    enum Call: Int, Sendable {
        case none
        /// Folders were left for a scan.
        case foldersLeft
        /// A scan of everything was asked for.
        case everything
    }

    /// The outcome of a poll.
    struct Outcome: Sendable {
        /// The errors of single folders.
        var failures: [Failure] = []
        /// The reason why the server did not answer; nil if it did.
        var unreached: Failure?
    }
}
