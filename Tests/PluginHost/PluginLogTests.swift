import Logging
import Model
import TestSupport
import Testing

@testable import PluginHost

@Suite struct PluginLogTests {
    @Test("G6: a flood of lines is cut off, and what was dropped is said when the time is over")
    func flood() {
        let collected = CollectedLog()
        let time = TestClock()
        let log = PluginLog(plugin: PluginID("a.b"), account: "x", logger: collected.logger, clock: time.host)
        for number in 0..<150 { log.write(.info, "line \(number)") }
        #expect(collected.messages.count == 100)
        time.advance(.seconds(11))
        log.write(.info, "later")
        #expect(
            collected.messages.suffix(2) == [
                "warning: 50 log lines were dropped: the plugin wrote more than 100 in 10 s", "info: later",
            ])
    }

    @Test("G6: the number of dropped lines is said at the end of a run of calls, and of the instance")
    func droppedAtEnd() {
        let collected = CollectedLog()
        let log = PluginLog(plugin: PluginID("a.b"), account: "x", logger: collected.logger, clock: TestClock().host)
        log.beginRun()
        for number in 0..<100_000 { log.write(.info, "line \(number)") }
        #expect(log.endRun() == nil)
        let said = { (count: Int) in
            "warning: \(count) log lines were dropped: the plugin wrote more than 100 in 10 s"
        }
        #expect(collected.messages.count == 101 && collected.messages.last == said(99_900))
        log.write(.info, "one more")
        log.endInstance()
        log.endInstance()
        #expect(collected.messages.count == 102 && collected.messages.last == said(1))
    }

    @Test("G6: each kind of mistake is counted for itself")
    func counts() {
        let collected = CollectedLog()
        let log = PluginLog(plugin: PluginID("a.b"), account: "x", logger: collected.logger, clock: TestClock().host)
        for _ in 0..<3 { log.note(.unknownStatus, "what") }
        log.note(.failed, "that")
        #expect(log.mistakes.counts == [.unknownStatus: 3, .failed: 1])
        #expect(log.mistakes.last == "that")
        #expect(collected.messages.first == "warning: what")
        #expect(collected.messages.contains("warning: what (unknown statuses so far: 3)"))
    }
}
