import Glibc

/// Waits until a condition holds, the test's task is cancelled, or `limit` has passed. The default of ten minutes lets
/// a test that hangs continue and fail. After a few checks the function sleeps between them, so that a long wait takes
/// no processor time from other tests.
/// - Returns: whether the condition came to hold.
@discardableResult
public func until(atMost limit: Duration = .seconds(600), _ isSo: () async throws -> Bool) async rethrows -> Bool {
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

/// Waits as ``until(atMost:_:)`` does, for code that is not asynchronous. The function blocks its thread.
@discardableResult
public func untilOnThread(atMost limit: Duration = .seconds(600), _ isSo: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try !isSo() {
        guard ContinuousClock.now < end else { return false }
        usleep(1_000)
    }
    return true
}
