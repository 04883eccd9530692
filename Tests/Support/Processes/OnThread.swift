import Foundation

/// Runs `body` on a thread of its own. It is for a `body` that blocks, or that loops until told to stop: all tests
/// share the few threads of Swift's concurrency runtime.
public func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
