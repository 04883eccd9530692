import Connection
package import Model

/// Retries for a server that cannot answer now and asks to wait, or that failed once.
package enum ListingRetry {
    /// The longest wait in total. A request that would have to wait longer fails.
    package static let longest: Duration = .seconds(10)
    /// The number of tries if the server does not ask for a retry.
    package static let tries = 3
    private static let firstDelay: Duration = .milliseconds(300)

    /// Runs a body that sends requests to the server, and repeats it after the time that the server asks for.
    /// - Parameter tries: The number of tries if the server does not ask for a retry. With 1, the body is repeated only
    ///   if the server asks for it.
    /// - Throws: The last `ConnectionError`, or any other error that `body` throws.
    package static func trying<T>(
        _ clock: HostClock, upTo tries: Int, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async throws -> T {
        var waited = Duration.zero
        var failures = 0
        while true {
            do {
                return try await body()
            } catch let error as ConnectionError {
                failures += 1
                guard error.isTransient, error.kind != .maintenance, error.retryAfter != nil || failures < tries else {
                    throw error
                }
                let delay = max(error.retryAfter ?? .zero, firstDelay * failures)
                waited += delay
                guard waited <= longest else { throw error }
                try await clock.sleep(delay)
            }
        }
    }
}
