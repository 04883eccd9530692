import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests that the fake host refuses, with the same words, what the host refuses before it starts a plugin.
@Suite struct FakeHostTests {
    static let schemas = [
        ("", "its settings' schema is not JSON"), ("{}", "its settings' schema has no `properties`"),
        (#"{"properties": {}, "required": []}"#, "its settings' schema has the unknown keyword `required`"),
        (#"{"properties": {"a": {}}}"#, "the setting `a` has no known type"),
        (#"{"properties": {"a": {"type": "date"}}}"#, "the setting `a` has no known type"),
        (#"{"properties": {"a": {"type": "array"}}}"#, "the setting `a` has no `items`"),
        (#"{"properties": {"a": {"type": "object"}}}"#, "the setting `a` has no `properties`"),
        (#"{"properties": {"a": {"type": "object", "properties": {"b": {}}}}}"#, "the setting `b` has no known type"),
        (#"{"properties": {"a": {"type": "string", "minLength": 1}}}"#, "the setting `a` has the unknown keyword"),
        (#"{"properties": {"a": {"type": "string", "format": "color"}}}"#, "the setting `a` has the unknown"),
        (#"{"properties": {"a": {"type": "integer", "default": "x"}}}"#, "the default of the setting `a`"),
        (#"{"properties": {"a": {"type": "string", "format": "duration", "default": "9"}}}"#, "the default of"),
        (#"{"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}"#, ""),
        (#"{"properties": {"a": {"type": "integer", "format": "size"}}}"#, "the setting `a` has the unknown keyword"),
        (#"{"properties": {"a": {"type": "integer", "minimum": "1"}}}"#, ""),
        (#"{"properties": {"a": {"type": "integer", "minimum": 1, "default": 0}}}"#, "the default of the setting `a`"),
        (
            #"{"properties": {"a": {"type": "integer", "heeded-as": "poll-interval"}}}"#,
            "the setting `a` has a `heeded-as`"
        ),
        (
            #"{"properties": {"a": {"type": "array", "items": {"type": "string"}, "heeded-as": "friends"}}}"#,
            "the setting `a` has a `heeded-as` that is not for it"
        ),
        (
            """
            {"properties": {"a": {"type": "object", "properties": \
            {"b": {"type": "string", "format": "duration", "heeded-as": "poll-interval"}}}}}
            """,
            "the setting `b` has a `heeded-as` that is not for it"
        ),
    ].map { ([#"SCHEMA="\#($0.0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))""#], "bad text: " + $0.1) }

    @Test(
        "G4, GL1: what the host does not start, the fake host does not start either, for the same reason",
        arguments: [
            (["ENTRY_STATUS=LARDER_IO"], "its entry function returned"),
            (["NULL_MODULE"], "null table: module"), (["NULL_CREATE"], "null function: module.create"),
            (["MODULE_SIZE=23"], "bad size: module says"), (["MODULE_SIZE=65537"], "bad size: module says"),
            (["DESCRIPTOR_SIZE=0"], "bad size: descriptor says"),
            (["PROCESSOR_SIZE=8"], "bad size: larder.item-policy-processor/1 says"),
            (["DID_PASS=0"], "null function: larder.item-policy-processor/1.did_pass_trigger"),
            (["TWICE"], "duplicate id: the library describes org.example.variant twice"),
            (["ID=\"Not An Id\""], "bad text: the id of plugin 0 is not valid"),
            (["ID=\"nodots\""], "bad text: the id of plugin 0 is not valid"),
            (["ID=\"org.example.other\""], "id not as configured: the library has no org.example.variant"),
            (["REQUIRED=\"larder.wormhole/1\""], "it requires the service larder.wormhole/1"),
            (["REQUIRED=\"larder.log/1 larder.log/2\""], "it requires the service larder.log/2"),
            (["KIND=\"\""], "bad text: its processor's kind is missing or not UTF-8"),
            (["KIND=\"\\xff\""], "bad text: its processor's kind is missing or not UTF-8"),
            (["WANTED=\"\\xff\""], "bad text: the services that org.example.variant asks for are not UTF-8"),
        ] as [([String], String)] + schemas)
    func refused(defines: [String], reason: String) async throws {
        try await withPluginFolder { folder in
            let report = try #require(try await folder.report(ofVariant: defines))
            #expect(report.reason?.hasPrefix(reason) == true, "\(report.reason ?? "no reason")")
            let fake = larder_fake_open("\(folder.path)/v.so")
            defer { larder_fake_free(fake) }
            #expect(larder_fake_start(fake, PluginFolder.variant.text) != LARDER_OK)
            let problem = larder_fake_problem(fake).map { String(cString: $0) } ?? "none"
            #expect(problem.hasPrefix(reason), "\(problem)")
        }
    }

    @Test(
        "G4: settings that the host refuses, the fake host refuses too",
        arguments: [
            ("no JSON", "settings: not "), ("[]", "settings: not "), (#"{"b": 1}"#, "settings: `b` is unknown"),
            (#"{"a": 1.5}"#, "settings: `a` "), (#"{"a": 0}"#, "settings: `a` "), (#"{"a": 9}"#, "settings: `a` "),
            (#"{"t": "soon"}"#, "settings: `t` is not a duration"), (#"{"t": "1d"}"#, "settings: `t` "),
            (#"{"o": {"x": 1}}"#, "settings: `o.x` is unknown"), (#"{"o": 1}"#, "settings: `o` must hold settings"),
        ])
    func settings(json: String, reason: String) async throws {
        let schema =
            #"{"properties":{"a":{"type":"integer","minimum":1,"maximum":5},"#
            + #""t":{"type":"string","format":"duration","maximum":1000},"#
            + #""o":{"type":"object","properties":{}}}}"#
        let defines = [#"SCHEMA="\#(schema.replacing("\"", with: "\\\""))""#]
        try await withPluginFolder { folder in
            let report = try #require(try await folder.report(ofVariant: defines, settings: json))
            #expect(report.reason?.hasPrefix(reason) == true, "\(report.reason ?? "no reason")")
            let fake = larder_fake_open("\(folder.path)/v.so")
            defer { larder_fake_free(fake) }
            larder_fake_settings(fake, json)
            #expect(larder_fake_start(fake, PluginFolder.variant.text) == LARDER_INVALID_ARGUMENT)
            let problem = larder_fake_problem(fake).map { String(cString: $0) } ?? "none"
            #expect(problem.hasPrefix(reason), "\(problem)")
        }
    }
}
