import Core
import Model

/// What the answers share that tell what happens in an account until the client closes the connection. They go on over a
/// reload or a restart of the account.
extension ControlService {
    /// The time between two checks of whether an account that was closed is open again.
    private static let retryInterval = Duration.seconds(1)
    /// The number of tries after which an open account that cannot be read ends a stream.
    private static let mostTries = 10
    private static let full = "503 Service Unavailable"
    private static let sign = Array(":\n\n".utf8)

    /// Begins a stream, or answers why there is none.
    /// - Parameter begin: Begins to read the account; nil if it is not open at this moment.
    /// - Returns: Whether the stream has begun.
    /// - Throws: a failure of the connection.
    func beginStream(
        of account: String, _ fields: [String: String], on connection: ControlConnection,
        _ begin: (AccountHost?) async throws(Failure) -> Void
    ) async throws -> Bool {
        do throws(Failure) {
            try Self.checkVersion(fields)
            guard let phase = hosting.phases[account] else { throw hosting.noAccount(account) }
            try check(fields[ControlField.account], of: account)
            if let failure = phase.failure { throw failure }
            guard connection.becomeStream() else { throw LiveQuery.tooMany }
            try await begin(phase.host)
        } catch {
            let status = error.message == LiveQuery.tooMany.message ? Self.full : error.kind.status
            try await connection.answer(status, Array(JSONValue(error: error).text.utf8))
            return false
        }
        try await connection.beginEvents()
        return true
    }

    /// Waits until an account is open again, and begins to read it.
    /// - Returns: What `read` returns; nil if the stream has ended, since the host has the account no longer, or cannot
    ///   read it.
    /// - Throws: a failure of the connection; `CancellationError` if the host ends.
    func reopened<Reader>(
        _ account: String, on connection: ControlConnection, _ read: (AccountHost) async throws(Failure) -> Reader
    ) async throws -> Reader? {
        var failure: Failure?
        var tries = 0
        while hosting.phases[account] != nil, tries < Self.mostTries {
            try await connection.send(Self.sign)
            try await hosting.options.clock.sleep(Self.retryInterval)
            guard let host = hosting.phases[account]?.host else { continue }
            // An account that is still closing refuses to be read.
            do throws(Failure) { return try await read(host) } catch { (failure, tries) = (error, tries + 1) }
        }
        if hosting.phases[account] == nil { failure = nil }
        let told = JSONValue(error: failure ?? hosting.noAccount(account)).text
        try await connection.send(Array("event: error\ndata: \(told)\n\n".utf8))
        try await connection.endEvents()
        return nil
    }

    /// Waits for something to tell, and sends signs that the host lives meanwhile.
    /// - Returns: What there is to tell, or why there is no more.
    /// - Throws: a failure of the connection; `CancellationError` if the host ends.
    func awaited<News: Sendable>(
        on connection: ControlConnection, _ news: @escaping @Sendable () async throws(Failure) -> News
    ) async throws -> Result<News, Failure> {
        try await withThrowingTaskGroup(of: Result<News, Failure>?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                do throws(Failure) { return .success(try await news()) } catch { return .failure(error) }
            }
            while true {
                group.addTask { [clock = hosting.options.clock] in
                    try await clock.sleep(Self.signInterval)
                    return nil
                }
                if let told = try await group.next() ?? nil { return told }
                try await connection.send(Self.sign)
            }
        }
    }
}
