public import CLarder

/// The reason why the host did not do what a plugin requested.
public struct ServiceError: Error, Hashable, Sendable {
    /// One of the ABI's statuses, but not `LARDER_OK`.
    public var status: larder_status
    /// The explanation for the log.
    public var message: String
    /// Whether the error is about a flag or a number that no header of this version defines. For a plugin that was
    /// built with later headers, this is not a mistake.
    var isUnknown = false
    /// Whether the log has said so before, and does not say it again.
    var isTold = false
    /// Whether the log and the trace name the error although it is an answer.
    var isNoted = false

    /// Creates an error.
    public init(_ status: larder_status, _ message: String) {
        self.status = status
        self.message = message
    }

    static func unknown(_ message: String) -> ServiceError {
        var error = ServiceError(LARDER_INVALID_ARGUMENT, message)
        error.isUnknown = true
        return error
    }
}
