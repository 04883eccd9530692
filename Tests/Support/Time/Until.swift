import Glibc

/// Waits until it is so, or the test's time is over; ten minutes at most, for what hangs, so that the test goes on and fails. Others run
/// meanwhile: who waits for long takes no processor from them.
/// - Returns: whether it came to be so.
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

/// The same for code that is not asynchronous; it blocks its thread.
@discardableResult
public func untilOnThread(atMost limit: Duration = .seconds(600), _ isSo: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try !isSo() {
        guard ContinuousClock.now < end else { return false }
        usleep(1_000)
    }
    return true
}
