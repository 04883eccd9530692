public import CLarder

/// Why the host did not do what a plugin asked it for.
public struct ServiceError: Error, Hashable, Sendable {
    /// One of the ABI's statuses, not `LARDER_OK`.
    public var status: larder_status
    /// For the log: what was wrong with what was asked.
    public var message: String
    /// Whether it is about something that no header of this version has: a flag, or a number that stands for something. A plugin that
    /// was built with later headers makes no mistake with it.
    var isUnknown = false

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
