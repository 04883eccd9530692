import Model
import TestSupport
import Testing

@testable import larder

@Suite struct TimelineTests {
    /// Returns a line of a trace.
    private func line(_ time: String, _ call: String, _ more: String) throws -> JSONValue {
        try JSONValue(parsing: #"{"time":"\#(time)","plugin":"a.b","call":"\#(call)","path":"/a",\#(more)}"#)
    }

    @Test("A call is an event with its begin and length, what comes of it a mark; a call under way has a begin alone")
    func events() throws {
        var timeline = Timeline()
        let begun = try timeline.events(
            of: line("2026-11-21T10:12:00.0000019Z", "performAction", #""phase":"begin""#), in: "home")
        #expect(
            begun.map(\.text) == [
                #"{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"home"}}"#,
                #"{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"a.b"}}"#,
            ])
        let asked = try timeline.events(
            of: line("2026-11-21T10:12:00.000010Z", "performAction", #""phase":"asked","what":"download","text":"/a""#),
            in: "home")
        #expect(
            asked.map(\.text) == [
                #"{"ph":"i","name":"asked: download","ts":1795255920000010,"pid":1,"tid":1,"s":"t","#
                    + #""args":{"path":"/a","text":"/a"}}"#
            ])
        let ended = try timeline.events(
            of: line("2026-11-21T10:12:00.000012Z", "performAction", #""status":"ok","microseconds":11"#), in: "home")
        #expect(
            ended.map(\.text) == [
                #"{"ph":"X","name":"performAction","ts":1795255920000001,"pid":1,"tid":1,"dur":11,"#
                    + #""args":{"path":"/a","status":"ok"}}"#
            ])
        #expect(timeline.end().isEmpty)
        _ = try timeline.events(of: line("2026-11-21T10:12:01Z", "stop", #""phase":"begin""#), in: "work")
        #expect(
            timeline.end().map(\.text) == [
                #"{"ph":"B","name":"stop","ts":1795255921000000,"pid":2,"tid":2,"args":{"path":"/a"}}"#
            ])
        // A call whose begin or end was left out.
        let gap = try JSONValue(parsing: #"{"account":"work","plugin":"a.b","phase":"leftOut","count":3}"#)
        #expect(timeline.events(of: gap, in: "work").map(\.text).last?.contains("3 lines left out") == true)
        #expect(timeline.end().isEmpty)
        let late = try timeline.events(
            of: line("2026-11-21T10:12:02Z", "destroy", #""phase":"end","status":"ok","microseconds":1000000"#),
            in: "work")
        #expect(late.first?["ts"] == .integer(1_795_255_921_000_000))
    }

    @Test("A file of a timeline is whole JSON, also without calls")
    func file() throws {
        try withTemporaryFolder { folder in
            var empty = try TimelineFile(path: "\(folder)/empty")
            try empty.close()
            #expect(try Files.text("\(folder)/empty") == "[]\n")
            var file = try TimelineFile(path: "\(folder)/file")
            try file.add([line("2026-11-21T10:12:00Z", "start", #""phase":"begin""#)], of: "home")
            try file.add([], of: "home")
            try file.close()
            guard case .array(let events) = try JSONValue(parsing: Files.text("\(folder)/file")) else {
                Issue.record("no array")
                return
            }
            #expect(events.compactMap { $0["ph"] } == [.string("M"), .string("M"), .string("B")])
        }
    }
}
