/// Waits until it is so, or the test's time is over; ten minutes at most, for what hangs, so that the test goes on and fails. Others run
/// meanwhile: who waits for long takes no processor from them.
public func until(_ isSo: () async throws -> Bool) async rethrows {
    var looks = 0
    let end = ContinuousClock.now + .seconds(600)
    while !Task.isCancelled, try await !isSo(), ContinuousClock.now < end {
        looks += 1
        guard looks > 50 else {
            await Task.yield()
            continue
        }
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
    }
}
