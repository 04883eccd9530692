/// Carries out work in a task of its own, and waits for it.
///
/// A task keeps the memory of its deepest call until it ends. A task that goes on for as long as an account has its deep
/// calls made by others, so that an account at rest keeps little. If the task is cancelled, so is the work.
///
///     let outcome = try await inOwnTask { try await list.scan(all) }
/// - Throws: What `work` throws.
public func inOwnTask<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask(operation: work)
        // A group with a task has a result.
        guard let result = try await group.next() else { throw CancellationError() }
        return result
    }
}
