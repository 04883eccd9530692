import Glibc
import Testing

/// Waits until a condition holds or the test's task is cancelled. A wait that has not ended after `limit` is an issue of
/// the test, which then goes on. After a few checks the function sleeps between them, so that a long wait takes no
/// processor time from other tests.
/// - Returns: whether the condition came to hold.
@discardableResult
public func until(
    file: String = #fileID, path: String = #filePath, line: Int = #line, column: Int = #column,
    _ isSo: () async throws -> Bool
) async rethrows -> Bool {
    let limit = Duration.seconds(300)
    if try await until(atMost: limit, isSo) { return true }
    if !Task.isCancelled {
        Issue.record(
            "What the test waits for has not come within \(limit)",
            sourceLocation: SourceLocation(fileID: file, filePath: path, line: line, column: column))
    }
    return false
}

/// Waits until a condition holds, the test's task is cancelled, or `limit` has passed, which the test expects.
/// - Returns: whether the condition came to hold.
@discardableResult
public func until(atMost limit: Duration, _ isSo: () async throws -> Bool) async rethrows -> Bool {
    var looks = 0
    let end = ContinuousClock.now + limit
    while !Task.isCancelled {
        if try await isSo() { return true }
        guard ContinuousClock.now < end else { return false }
        looks += 1
        guard looks > 50 else {
            await Task.yield()
            continue
        }
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return false }
    }
    return false
}

/// Waits as ``until(_:file:path:line:column:_:)`` does, for code that is not asynchronous. The function blocks its
/// thread.
@discardableResult
public func untilOnThread(
    file: String = #fileID, path: String = #filePath, line: Int = #line, column: Int = #column,
    _ isSo: () throws -> Bool
) rethrows -> Bool {
    let limit = Duration.seconds(300)
    let end = ContinuousClock.now + limit
    while try !isSo() {
        guard ContinuousClock.now < end else {
            Issue.record(
                "What the test waits for has not come within \(limit)",
                sourceLocation: SourceLocation(fileID: file, filePath: path, line: line, column: column))
            return false
        }
        usleep(1_000)
    }
    return true
}
