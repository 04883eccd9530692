import Connection
import Model

extension FetchFailure {
    /// What a failed `get` means for a download.
    /// - Parameters:
    ///   - received: Bytes that the sink took; nil if not even an answer's head came.
    ///   - offset: From where the file was asked for.
    init(_ error: any Error, received: Int64?, offset: Int64) {
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
            self = .brokenOff(error.failure, gained: offset > 0 && (received ?? 0) > 0)
        case .unreachable: self = .unreachable(error.failure)
        case .maintenance: self = .unreachable(error.failure)
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
