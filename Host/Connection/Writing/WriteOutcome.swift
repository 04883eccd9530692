public import Model

/// The outcome of a request that changes something, if the server decided about it.
public enum WriteOutcome: Hashable, Sendable {
    /// The server did it.
    case done(WriteAnswer)
    /// The server did not do it, or it was not asked because it would refuse. Sending the request again changes nothing.
    /// ``WriteRefusal/partly(_:_:)`` is the one case in which something was done.
    case refused(WriteRefusal)
}

/// The facts that the answer to a successful request tells.
public struct WriteAnswer: Hashable, Sendable {
    /// The answer's status.
    public var status: Int
    /// The version that the server has now, if the answer names one. Only a strong ETag proves that the server has
    /// exactly the bytes that were sent (RFC 9110, section 9.3.4).
    public var etag: ETag?
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
        status: Int, etag: ETag? = nil, fileID: FileID? = nil, date: Timestamp? = nil, took: Duration = .zero,
        tookModified: Bool = false, hasReplaced: Bool = false
    ) {
        self.status = status
        self.etag = etag
        self.fileID = fileID
        self.date = date
        self.took = took
        self.tookModified = tookModified
        self.hasReplaced = hasReplaced
    }
}
