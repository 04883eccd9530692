import Connection
import Model

extension FetchFailure {
    /// Classifies the error of a question about a change. What concerns the whole server or account stays what it is.
    init(_ question: FailedQuestion) {
        let error = question.error
        let failure = FetchFailure(error, received: nil, gained: false)
        switch failure {
        case .unreachable, .account, .unavailable, .cancelled: self = failure
        default: self = .question(error.failure, retryAfter: error.retryAfter)
        }
    }

    /// Classifies the error of a failed `get`.
    /// - Parameters:
    ///   - received: The number of bytes that the sink took, or nil if not even an answer's head came.
    ///   - gained: Whether another try starts noticeably closer to the end.
    init(_ error: any Error, received: Int64?, gained: Bool) {
        if let failure = error as? FetchFailure {
            self = failure
            return
        }
        guard let error = error as? ConnectionError else {
            self =
                error is CancellationError ? .cancelled : .refused(error as? Failure ?? Failure(.internal, "\(error)"))
            return
        }
        switch error.kind {
        case .unreachable where received != nil:
            self = .brokenOff(error.failure, gained: gained)
        // Some servers fail so for a single file.
        case .unreachable where error.isClosed: self = .server(error.failure, retryAfter: nil)
        case .unreachable: self = .unreachable(error.failure)
        case .maintenance, .unapproved: self = .unreachable(error.failure)
        case .serverError where error.status == 503:
            self = .unavailable(error.failure, retryAfter: error.retryAfter)
        case .serverError: self = .server(error.failure, retryAfter: error.retryAfter)
        case .authentication, .certificate, .badAddress: self = .account(error.failure)
        case .notFound: self = .gone(error.failure)
        case .versionChanged: self = .changed(error.failure)
        case .protocolViolation where received != nil: self = .brokenOff(error.failure, gained: false)
        case .protocolViolation, .forbidden, .redirectRefused, .badRequest: self = .refused(error.failure)
        case .cancelled: self = .cancelled
        }
    }
}
