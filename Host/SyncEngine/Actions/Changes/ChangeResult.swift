import Connection
import Database
import LocalTree
import Model

/// The result of a request for a change.
enum ChangeResult<Effect: Sendable>: Sendable {
    /// The server has made the change.
    case made(Effect)
    case unmade(UnmadeChange)

    static func refused(_ failure: Failure, _ code: IssueCode, seen: String? = nil) -> Self {
        .unmade(.refused(failure, code, seen: seen))
    }

    static func uncertain(_ failure: Failure, _ code: IssueCode, seen: String, wasTaken: Bool = false) -> Self {
        .unmade(.uncertain(failure, code, seen: seen, wasTaken: wasTaken))
    }
}

/// A change of which the server has not shown that it was made.
enum UnmadeChange: Sendable {
    /// The server does not make the change. A person decides what follows.
    /// - Parameter seen: A digest of what the server had then, for an answer that is about that alone.
    case refused(Failure, IssueCode, seen: String?)
    /// The server has another version than an upload follows.
    /// - Parameters:
    ///   - found: The version; nil if nothing is there.
    ///   - isSure: Whether no request of the record can have arrived.
    case conflict(Failure, found: ETag?, isSure: Bool)
    /// The server does not show whether the change was made. It is checked again after a while, and a person is asked
    /// if nothing changes for long.
    /// - Parameters:
    ///   - seen: A digest of what was seen.
    ///   - wasTaken: Whether the server has answered that it has done all.
    case uncertain(Failure, IssueCode, seen: String, wasTaken: Bool)
    /// The server does not make the change now. It is asked again after a while: nil for one that grows each time.
    case waits(Failure, Duration?)
}

/// A question about what a change has made that the server did not answer.
struct FailedQuestion: Error {
    var error: ConnectionError
    /// Whether a request for the change was sent just before.
    var followsRequest: Bool
}

/// The outcome of a change that was started.
enum ChangeOutcome: Sendable {
    case resolved(RecordOutcome)
    /// The server has taken an upload, whose snapshot is to be put in place like a download.
    case uploaded(Fetched)
    /// The server has taken an upload, whose snapshot is to be put in place like a download of a batch.
    case uploadedTogether(BatchArrival)
    /// The server did not decide about the request.
    case failed(FetchFailure)
}

/// The waits for what a server does with changes.
enum ChangeDelay {
    /// The time after which a change of something that is locked is tried again.
    static let locked = Duration.seconds(60)
    /// The time without a change on the server after which a person is asked about what is not certain.
    static let longestStillness = Duration.seconds(600)
    /// The time for which the places of a copy, a move or a deletion must not change before the server is known to be
    /// done with one that was cancelled.
    static let cancelledStillness = Duration.seconds(60)
    /// The longest pause between two checks of what is not certain.
    static let longestCheckPause = Duration.seconds(120)
}
