import Dispatch

/// Runs what blocks on a thread that may block.
func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        blockingQueue.async { continuation.resume(with: Result { try body() }) }
    }
}

private let blockingQueue = DispatchQueue(label: "org.larder.core.blocking", attributes: .concurrent)
