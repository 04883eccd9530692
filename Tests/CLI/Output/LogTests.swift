import Glibc
import Logging
import Model
import TestSupport
import Testing

@testable import larder

@Suite struct LogTests {
    @Test("H10: a line for the journal has no time of its own; each line of the output begins with its priority")
    func journal() throws {
        var config = LogConfig()
        config.format = .journal
        let handler = LineLogHandler(config, console: Console())
        #expect(
            handler.line(.warning, "It\nis so", ["account": "home"], at: Timestamp(seconds: 0))
                == "It; is so account=home")
        let levels: [(Logger.Level, Int)] = [
            (.critical, 2), (.error, 3), (.warning, 4), (.notice, 5), (.info, 6), (.debug, 7), (.trace, 7),
        ]
        for (level, number) in levels { #expect(LinePriority(level).rawValue == number, "\(level)") }
        try withTemporaryFolder { folder in
            let file = open("\(folder)/errors", O_WRONLY | O_CREAT, 0o600)
            let console = Console(errors: file)
            console.note("before")
            console.showPriorities()
            console.note("a\nb")
            console.note("c", as: .warning)
            close(file)
            let text = try Files.text("\(folder)/errors")
            #expect(text == "before\n<3>a\\nb\n<4>c\n")
        }
    }

    @Test("H10: a host goes on when nobody reads its log, and tells the reader who comes back what is missing")
    func unread() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let console = Console(errors: ends[1])
        console.dropUnreadLines()
        // More than a pipe holds.
        let line = String(repeating: "x", count: 9_999)
        for _ in 0..<100 { console.note(line) }
        func read() -> String {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while case let count = Glibc.read(ends[0], &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
            return String(decoding: bytes, as: UTF8.self)
        }
        let whole = read().split(separator: "\n").count { $0 == line }
        #expect(whole > 0 && whole < 100)
        console.note("after")
        #expect(read().hasSuffix("larder: lines that nobody read were dropped here: \(100 - whole)\nafter\n"))
        for end in ends { close(end) }
    }

    @Test("H1 H7: a name in a field moves no cursor and turns no text, as in a message")
    func controls() {
        let handler = LineLogHandler(LogConfig(), console: Console())
        let line = handler.line(.info, "x", ["path": "/a\u{9b}2J\u{202e}b\u{1b}[2Jc"], at: Timestamp(seconds: 0))
        #expect(line.hasSuffix(#"x path=/a\u009b2J\u202eb\u001b[2Jc"#))
    }

    @Test("H1: log lines as text and as JSON")
    func lines() {
        var config = LogConfig()
        let text = LineLogHandler(config, console: Console())
        let fields: Logger.Metadata = ["path": "/a b", "account": "home"]
        #expect(
            text.line(.warning, "It\nis so", fields, at: Timestamp(seconds: 0))
                == #"1970-01-01T00:00:00Z warning: It; is so account=home path="/a b""#)
        config.format = .json
        let json = LineLogHandler(config, console: Console())
        #expect(
            json.line(.info, "x", fields, at: Timestamp(seconds: 0)) == """
                {"time":"1970-01-01T00:00:00Z","level":"info","message":"x","fields":{"account":"home","path":"/a b"}}
                """)
    }
}
