import Connection

/// A filter for a server's failures that reports the first failure of an outage, and each failure whose kind differs
/// from the one before.
struct Outage {
    private var told: ConnectionError.Kind?

    /// Notes a failure.
    /// - Returns: Whether the failure is to be reported.
    mutating func begins(with error: ConnectionError) -> Bool {
        defer { told = error.kind }
        return told != error.kind
    }

    /// Notes that the server has answered.
    /// - Returns: Whether the end of the outage is to be reported.
    mutating func ends() -> Bool { told.take() != nil }
}
