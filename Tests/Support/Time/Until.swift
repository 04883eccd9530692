/// Waits until it is so, or the test's time is over. Others run meanwhile: who waits for long takes no processor from them.
public func until(_ isSo: () async -> Bool) async {
    var looks = 0
    while !Task.isCancelled, !(await isSo()) {
        looks += 1
        guard looks > 50 else {
            await Task.yield()
            continue
        }
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
    }
}
