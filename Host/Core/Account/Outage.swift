import Connection

/// Which of a server's failures are told: the first of an outage, and each that is of another kind than the one before.
struct Outage {
    private var told: ConnectionError.Kind?

    /// - Returns: whether the failure is to be told.
    mutating func begins(with error: ConnectionError) -> Bool {
        defer { told = error.kind }
        return told != error.kind
    }

    /// The server has answered.
    /// - Returns: whether that is to be told.
    mutating func ends() -> Bool { told.take() != nil }
}
