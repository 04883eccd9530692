import Model

/// Why a download did not come to its end.
enum FetchFailure: Error, Sendable {
    /// No answer: no connection, no name, no time.
    case unreachable(Failure)
    /// The server asks to wait or is broken: 5xx, 408, 425, 429.
    case server(Failure, retryAfter: Duration?)
    /// The body ended early or is too long.
    /// - Parameter gained: Whether it went on from what an earlier try had left, so that another try is nearer to the end.
    case brokenOff(Failure, gained: Bool)
    /// The bytes are not those that the server's checksum is of.
    case wrongChecksum(Failure)
    /// The server has another version than the one that is known.
    case changed(Failure)
    /// 404 or 410.
    case gone(Failure)
    /// No request will be answered before something about the account changes: wrong password, certificate not trusted.
    case account(Failure)
    /// The server will not give this file: 403 and other refusals.
    case refused(Failure)
    /// The disk is full or broken: no download can go on.
    case disk(Failure)
    /// This file cannot be written: something is in its way.
    case place(Failure)
    /// Cancelled by a person or by the one who asked.
    case cancelled

    /// Whether it shows that the server answers.
    var isAnswer: Bool {
        switch self {
        case .brokenOff, .wrongChecksum, .changed, .gone, .refused: true
        case .unreachable, .server, .account, .disk, .place, .cancelled: false
        }
    }

    var failure: Failure {
        switch self {
        case .unreachable(let failure), .server(let failure, _), .brokenOff(let failure, _),
            .wrongChecksum(let failure),
            .changed(let failure), .gone(let failure), .account(let failure), .refused(let failure), .disk(let failure),
            .place(let failure):
            failure
        case .cancelled: Failure(.failed, "Cancelled")
        }
    }
}
