import Dispatch

/// Runs what blocks on a thread that may block; the task that waits for it holds up nobody.
/// - Throws: what the body throws.
public func runBlocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await shared.run(body)
}

/// Runs what blocks and does not fail.
public func runBlocking<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await shared.run(body)
}

private let shared = BlockingQueue(queue: DispatchQueue(label: "org.larder.blocking", attributes: .concurrent))

/// Runs what blocks, one thing after the other. It has a thread only while there is something to do.
public struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    fileprivate init(queue: DispatchQueue) { self.queue = queue }

    /// - Parameter label: what debuggers show.
    public init(label: String) { queue = DispatchQueue(label: label) }

    /// Runs the body after what was asked before; the task that waits for it holds up nobody.
    /// - Throws: what the body throws.
    public func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        if Workplace.single != nil { return try body() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs what does not fail, in the same way.
    public func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        if Workplace.single != nil { return body() }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
