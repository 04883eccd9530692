import Model
import TestSupport
import Testing

@testable import PluginHost

@Suite struct TraceWriterTests {
    @Test(
        "G18: a trace has a line when a call begins and one when it ends, with the fields of the command line's contract"
    )
    func lines() throws {
        try withTemporaryFolder { folder in
            let writer = try TraceWriter(path: "\(folder)/trace")
            let time = Timestamp(seconds: 1_795_255_920)
            let call = TracedCall(
                plugin: PluginID("a.b"), call: "performAction", trigger: .itemsChanged, path: "/q\"\\\n\u{1}é")
            writer.begin(call, at: time)
            let members =
                #""time":"2026-11-21T10:12:00Z","plugin":"a.b","call":"performAction","trigger":"itemsChanged","#
                + #""path":"/q\"\\\u000a\u0001é","loop":null"#
            // A written line is in the file at once, so a crash does not lose it.
            #expect(try Files.text("\(folder)/trace") == #"{"seq":1,\#(members),"phase":"begin"}"# + "\n")
            writer.note(.asked, call, what: "download", text: "/q", at: time)
            writer.end(call, status: "ok", at: time, took: .microseconds(42))
            writer.begin(TracedCall(plugin: PluginID("a.b"), call: "start"), at: time)
            writer.end(TracedCall(plugin: PluginID("a.b"), call: "start"), status: "failed", at: time, took: .zero)
            try writer.check()
            let lines = try Files.text("\(folder)/trace").split(separator: "\n")
            #expect(lines.count == 5)
            #expect(lines[1] == #"{"seq":2,\#(members),"phase":"asked","what":"download","text":"/q","because":null}"#)
            #expect(lines[2] == #"{"seq":3,\#(members),"status":"ok","microseconds":42}"#)
            #expect(lines[4].hasSuffix(#""loop":null,"phase":"end","status":"failed","microseconds":0}"#))
        }
    }

    @Test("P60: what is dropped after its call is a line of its own, with the reason")
    func droppedLater() throws {
        try withTemporaryFolder { folder in
            let writer = try TraceWriter(path: "\(folder)/trace")
            writer.dropped(
                "download", path: "/q", by: PluginID("a.b"), because: "nothing \"covers\" it",
                at: Timestamp(seconds: 1_795_255_920))
            let line =
                #"{"seq":1,"time":"2026-11-21T10:12:00Z","plugin":"a.b","call":null,"trigger":null,"#
                + #""path":"/q","loop":null,"phase":"dropped","what":"download","text":"/q","#
                + #""because":"nothing \"covers\" it"}"#
            #expect(try Files.text("\(folder)/trace") == line + "\n")
        }
    }

    @Test("A trace that cannot be written says so")
    func unwritable() throws {
        let failure = #expect(throws: Failure.self) { try TraceWriter(path: "/nowhere/trace") }
        #expect(failure?.kind == .cannotCreate)
        let full = try TraceWriter(path: "/dev/full")
        full.begin(TracedCall(plugin: PluginID("a.b"), call: "c"), at: .now())
        #expect(throws: Failure.self) { try full.check() }
    }
}
