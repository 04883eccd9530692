public import CLarder

/// Why the host did not do what a plugin asked it for.
public struct ServiceError: Error, Hashable, Sendable {
    /// One of the ABI's statuses, not `LARDER_OK`.
    public var status: larder_status
    /// For the log: what was wrong with what was asked.
    public var message: String

    public init(_ status: larder_status, _ message: String) {
        self.status = status
        self.message = message
    }
}
