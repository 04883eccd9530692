import Logging
import Model
import Testing

@testable import larder

@Suite struct LogTests {
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
