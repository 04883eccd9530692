import Connection
package import Model

/// Waiting for a server that cannot answer now and says for how long, or that failed once.
package enum ListingRetry {
    /// What would have to wait longer is left for later.
    package static let longest: Duration = .seconds(10)
    package static let tries = 3
    private static let firstDelay: Duration = .milliseconds(300)

    /// Tries what asks the server, again after the time that it asks for.
    /// - Parameter tries: how often without the server's asking; 1: only when it asks.
    /// - Throws: the last `ConnectionError`, and what else `body` throws.
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
