import Model

/// The reason why a download did not come to its end.
enum FetchFailure: Error, Sendable {
    /// No answer: no connection, a name that was not resolved, or a timeout.
    case unreachable(Failure)
    /// A server that asks to wait or is broken: other 5xx, 408, 425, 429. Also one that closes the connection before
    /// its answer begins.
    case server(Failure, retryAfter: Duration?)
    /// A server that cannot serve requests now, such as during maintenance: 503.
    case unavailable(Failure, retryAfter: Duration?)
    /// A body that ended early, arrived too slowly or is too long.
    /// - Parameter gained: Whether the download resumed what an earlier try had left, so that another try starts
    ///   noticeably closer to the end.
    case brokenOff(Failure, gained: Bool)
    /// Bytes that do not match the server's checksum.
    case wrongChecksum(Failure)
    /// Another version on the server than the known one.
    case changed(Failure)
    /// A file that is gone: 404 or 410.
    case gone(Failure)
    /// A problem of the account, such as a wrong password or a certificate that is not trusted. No request will succeed
    /// before the account or its settings change.
    case account(Failure)
    /// A request for this file that the server refuses: 403 and the like.
    case refused(Failure)
    /// A question about what a change has made that the server did not answer. It says nothing about the change.
    case question(Failure, retryAfter: Duration?)
    /// A disk that is full or broken: no download can go on.
    case disk(Failure)
    /// A file that cannot be written, because something is in its way.
    case place(Failure)
    /// A cancellation by a person or by the requester, or a pause.
    case cancelled

    /// Whether the failure shows that the server answers.
    var isAnswer: Bool {
        switch self {
        case .brokenOff, .wrongChecksum, .changed, .gone, .refused: true
        case .unreachable, .server, .unavailable, .question, .account, .disk, .place, .cancelled: false
        }
    }

    var failure: Failure {
        switch self {
        case .unreachable(let failure), .server(let failure, _), .unavailable(let failure, _),
            .brokenOff(let failure, _), .question(let failure, _), .wrongChecksum(let failure),
            .changed(let failure), .gone(let failure), .account(let failure), .refused(let failure), .disk(let failure),
            .place(let failure):
            failure
        case .cancelled: Failure(.failed, "It was stopped before its end")
        }
    }
}
