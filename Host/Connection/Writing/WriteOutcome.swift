public import Model

/// The outcome of a request that changes something, if the server decided about it.
public enum WriteOutcome: Equatable, Sendable {
    /// The server did it.
    case done(WriteAnswer)
    /// The server did not do it, or it was not asked because it would refuse. Sending the request again changes nothing.
    /// ``WriteRefusal/partly(_:_:)`` is the one case in which something was done.
    case refused(WriteRefusal)
    /// The answer does not tell whether the server did it, such as a web page with status 200. The server shows it. The
    /// error is what is told if it was not done; its `mayHaveArrived` is set.
    case unclear(ConnectionError)
}

/// The facts that the answer to a successful request tells.
public struct WriteAnswer: Hashable, Sendable {
    /// The answer's status.
    public var status: Int
    /// The version that the server has now, if the answer names one.
    public var etag: ETag?
    /// The checksums of what the server has stored, if the answer names any (`OC-Checksum`).
    public var checksums: [ContentChecksum]
    /// The item's id, if the answer names one (`OC-FileId`).
    public var fileID: FileID?
    /// The server's clock when it answered, to the second.
    public var date: Timestamp?
    /// The time from the moment before the request was sent to its answer.
    public var took: Duration
    /// Whether the server took over the time of the file's last change (`X-OC-Mtime`).
    public var tookModified: Bool
    /// Whether something was at the place of an upload that was to be new. The server has overwritten it in spite of
    /// the request's condition.
    public var hasReplaced: Bool

    /// Creates the facts.
    public init(
        status: Int, etag: ETag? = nil, checksums: [ContentChecksum] = [], fileID: FileID? = nil,
        date: Timestamp? = nil, took: Duration = .zero,
        tookModified: Bool = false, hasReplaced: Bool = false
    ) {
        self.status = status
        self.etag = etag
        self.checksums = checksums
        self.fileID = fileID
        self.date = date
        self.took = took
        self.tookModified = tookModified
        self.hasReplaced = hasReplaced
    }
}
