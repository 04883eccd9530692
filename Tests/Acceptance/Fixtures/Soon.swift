import TestSupport
import Testing

/// Looks again and again until something is so. Its patience ends for what hangs, not for what is slow.
/// - Parameters:
///   - host: a process without which it cannot come to be so.
///   - log: a file that tells why it did not.
func soon(
    _ what: String, beside host: ChildProcess? = nil, log: String? = nil,
    _ place: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while try await !isSo() {
        guard ContinuousClock.now < deadline, host?.hasEnded != true else {
            // It may have come to be so just before the end.
            if try await isSo() { return }
            let said = try log.map { "\n\(try Files.text($0).suffix(4_000))" } ?? ""
            Issue.record("\(what)\(said)", sourceLocation: place)
            return
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}

extension Account {
    /// Returns when a host at work has found the server.
    func untilOnline(_ host: ChildProcess, log: String? = nil, _ place: SourceLocation = #_sourceLocation) async throws
    {
        try await soon("the host is online", beside: host, log: log, place) {
            try await larder("--json", "status").output.contains("\"connection\":\"online\"")
        }
    }
}
