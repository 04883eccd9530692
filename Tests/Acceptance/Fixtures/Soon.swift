import TestSupport
import Testing

/// Checks a condition repeatedly until it holds. Records an issue after 300 s; the delay is long enough for a slow
/// machine, and ends only a test that hangs.
/// - Parameters:
///   - host: a process without which the condition cannot come to hold.
///   - log: a file that tells why the condition did not come to hold.
func soon(
    _ what: String, beside host: ChildProcess? = nil, log: String? = nil,
    _ place: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while try await !isSo() {
        guard ContinuousClock.now < deadline, host?.hasEnded != true else {
            // The condition may have come to hold just before the host ended.
            if try await isSo() { return }
            let said = try log.map { "\n\(try Files.text($0).suffix(4_000))" } ?? ""
            Issue.record("\(what)\(said)", sourceLocation: place)
            return
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}

extension Account {
    /// Waits until a running host has reached the server.
    func untilOnline(_ host: ChildProcess, log: String? = nil, _ place: SourceLocation = #_sourceLocation) async throws
    {
        try await soon("the host is online", beside: host, log: log, place) {
            try await larder("--json", "status").output.contains("\"connection\":\"online\"")
        }
    }
}
