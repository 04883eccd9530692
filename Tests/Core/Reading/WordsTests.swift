import Core
import Logging
import Model
import Testing

@testable import larder

/// Tests of the texts about runs, accounts and logs that people read.
@Suite struct WordsTests {
    @Test("A run says what it did, not only what it fetched")
    func runs() {
        var outcome = RunOutcome()
        #expect(outcome.summary == "nothing to fetch")
        outcome.moves = 1_500
        #expect(outcome.summary == "1500 moved")
        outcome.calendarObjects = 305
        #expect(outcome.summary == "1500 moved, 305 calendar objects brought up to date")
        (outcome.removed, outcome.moves, outcome.calendarObjects) = (1, 0, 0)
        #expect(outcome.summary == "1 copy removed")
        (outcome.removed, outcome.calendarObjects) = (1_200, 305)
        #expect(outcome.summary == "1200 copies removed, 305 calendar objects brought up to date")
        (outcome.files, outcome.bytes, outcome.removed, outcome.leftCount) = (1, 2_000, 0, 2)
        #expect(outcome.summary == "1 file fetched, 2.0 kB, 305 calendar objects brought up to date, 2 files left")
        outcome = RunOutcome()
        (outcome.uploads, outcome.uploadedBytes, outcome.changes) = (2, 3_000, 1)
        #expect(outcome.summary == "2 files uploaded, 3.0 kB, 1 change of the server made")
    }

    @Test("Without a host the status says so, and how the server was met last; no account is called offline for that")
    func status() {
        var status = AccountStatus(account: "home")
        func line() -> String { StatusText(status, plugins: []).lines.first ?? "" }
        #expect(line() == "home: no host is running, nothing was listed yet")
        (status.lastConnection, status.lastScan) = (.online, Timestamp(seconds: 0))
        #expect(line() == "home: no host is running, listed at 1970-01-01T00:00:00Z; the last host reached the server")
        status.lastConnection = .offline
        #expect(line().hasSuffix("; the last host did not reach the server"))
        (status.lastConnection, status.connectionProblem) = (.unavailable, "https://h answered 502 while listing /")
        #expect(line().hasSuffix("; the last host found the server unable to serve requests"))
        #expect(
            StatusText(status, plugins: []).lines.dropFirst().first
                == "  because    https://h answered 502 while listing /")
        (status.isRunning, status.nextPoll) = (true, Timestamp(seconds: 1))
        #expect(line() == "home: offline, next poll at 1970-01-01T00:00:01Z")
    }

    @Test("A log line is one line: what an error says in a second one follows a semicolon")
    func log() {
        var config = LogConfig()
        config.format = .text
        let handler = LineLogHandler(config, console: Console())
        let line = handler.line(
            .warning, "cannot connect\ncheck the network", ["why": "a\nb", "name": "x\ty"], at: Timestamp(seconds: 0))
        #expect(
            line == "1970-01-01T00:00:00Z warning: cannot connect; check the network name=x\\ty why=\"a; b\"",
            "\(line)")
        // Programs get the message unchanged.
        config.format = .json
        let json = LineLogHandler(config, console: Console())
            .line(.warning, "a\nb", [:], at: Timestamp(seconds: 0))
        #expect(json.contains(#""message":"a\nb""#), "\(json)")
    }
}
