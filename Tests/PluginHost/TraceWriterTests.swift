import Model
import TestSupport
import Testing

@testable import PluginHost

@Suite struct TraceWriterTests {
    @Test("A trace has a JSON line for each call, with the fields of the command line's contract")
    func lines() throws {
        try withTemporaryFolder { folder in
            let writer = try TraceWriter(path: "\(folder)/trace")
            let time = Timestamp(seconds: 1_795_255_920)
            writer.record(
                plugin: PluginID("a.b"), call: "performAction", trigger: .itemsChanged, path: "/q\"\\\n\u{1}é",
                status: "ok",
                time: time, took: .microseconds(42))
            writer.record(
                plugin: PluginID("a.b"), call: "didPassTrigger", trigger: nil, path: nil, status: "failed", time: time,
                took: .zero)
            try writer.flush()
            let lines = try Files.text("\(folder)/trace").split(separator: "\n")
            #expect(
                lines.first
                    == #"{"seq":1,"time":"2026-11-21T10:12:00Z","plugin":"a.b","call":"performAction","trigger":"itemsChanged","path":"/q\"\\\u000a\u0001é","loop":null,"status":"ok","microseconds":42}"#
            )
            #expect(lines.count == 2)
            #expect(lines.last?.contains(#""seq":2"#) == true)
        }
    }

    @Test("A trace that cannot be written says so")
    func unwritable() throws {
        let failure = #expect(throws: Failure.self) { try TraceWriter(path: "/nowhere/trace") }
        #expect(failure?.kind == .cannotCreate)
        let full = try TraceWriter(path: "/dev/full")
        full.record(
            plugin: PluginID("a.b"), call: "c", trigger: nil, path: nil, status: "ok", time: .now(), took: .zero)
        #expect(throws: Failure.self) { try full.flush() }
    }
}
