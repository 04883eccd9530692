import Dispatch

/// Runs a blocking body on a thread that may block. The waiting task blocks no thread.
/// - Throws: The error that the body throws.
public func runBlocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    if Workplace.single != nil { return try body() }
    return try await withCheckedThrowingContinuation { continuation in
        shared.run { continuation.resume(with: Result { try body() }) }
    }
}

/// Runs a blocking body that does not throw, in the same way.
public func runBlocking<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    if Workplace.single != nil { return body() }
    return await withCheckedContinuation { continuation in shared.run { continuation.resume(returning: body()) } }
}

/// Runs a blocking body on a thread that may block, without waiting for its end. The body does not run if the process
/// ends first.
public func runBlockingLater(_ body: @escaping @Sendable () -> Void) {
    if Workplace.single != nil { return body() }
    shared.run(body)
}

/// The threads are not those of libdispatch: it has no more than processors at first, and the tasks of the process run on
/// the same ones. With all of them blocked, it would start another after a second.
private let shared = BlockingExecutor(name: "blocking work", threads: 64)

/// A queue that runs blocking bodies one after the other. The queue has a thread only while there is work.
public struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    /// Creates a queue.
    /// - Parameter label: The name of the queue in debuggers.
    public init(label: String) { queue = DispatchQueue(label: label) }

    /// Runs the body after all bodies that were passed before. The waiting task blocks no thread.
    /// - Throws: The error that the body throws.
    public func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        if Workplace.single != nil { return try body() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Runs a body that does not throw, in the same way.
    public func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        if Workplace.single != nil { return body() }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
