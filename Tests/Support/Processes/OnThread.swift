import Foundation

/// Runs what blocks, or what goes round until it is told to stop, on a thread of its own: all tests share the few threads of the
/// concurrency library.
public func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
