import Model
import TestSupport
import Testing

@testable import larder

@Suite struct JSONTests {
    @Test("H1: text is escaped as JSON wants it, and stays one line")
    func text() {
        #expect(JSONValue.string("a\"b\\c\nd\te\u{1}f\u{7f}é😀").text == #""a\"b\\c\nd\te\u0001f\u007fé😀""#)
        #expect(
            JSONValue.object(["a": .null, "b": .array([.integer(1), .bool(false)]), "c": .object([])]).text
                == #"{"a":null,"b":[1,false],"c":{}}"#)
    }

    @Test("H1: every character is written as JSON wants it, in names as in values")
    func escapes() {
        let controls = String(String.UnicodeScalarView((0..<0x20).compactMap { Unicode.Scalar($0) }))
        let written =
            #"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\t\n\u000b\u000c\r\u000e\u000f"#
            + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"#
        #expect(JSONValue.string(controls).text == "\"\(written)\"")
        #expect(
            JSONValue.string("/\u{7f}\u{80}\u{2028}e\u{301}\u{10ffff}'").text
                == "\"/\\u007f\u{80}\u{2028}e\u{301}\u{10ffff}'\"")
        #expect(JSONValue.object(["\"\n": .string("")]).text == #"{"\"\n":""}"#)
    }

    @Test("H1: numbers are whole to the bounds of 64 bits, or the shortest text of a double; what is no number is null")
    func numbers() {
        let whole = JSONValue.array([
            .integer(Int64.min), .integer(Int64.max), .integer(0), .integer(-1), .integer(Int(7)), .integer(nil),
        ])
        #expect(whole.text == "[-9223372036854775808,9223372036854775807,0,-1,7,null]")
        let doubles = [
            0.5, 1, -0.0, 1e16, 1e-5, 0.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity,
            .nan,
        ]
        #expect(
            JSONValue.array(doubles.map { .number($0) }).text
                == "[0.5,1.0,-0.0,1e+16,1e-05,0.1,5e-324,1.7976931348623157e+308,null,null,null]")
    }

    @Test("H1: members keep their order, also of one name; empty objects and lists have no spaces")
    func structure() {
        let value = JSONValue.object([
            "z": .object([]), "a": .array([]),
            "m": .array([.array([.object(["": .null])]), .bool(true), .string(nil)]),
            "z": .strings(["é", "x"]), "t": .time(Timestamp(nanoseconds: 1_500_000_000)), "i": .id(SyncRecordID(9)),
            "n": .id(nil as SyncRecordID?), "none": .time(nil),
        ])
        #expect(
            value.text == """
                {"z":{},"a":[],"m":[[{"":null}],true,null],"z":["é","x"],"t":"1970-01-01T00:00:01.5Z","i":9,"n":null,\
                "none":null}
                """)
    }

    @Test("H1: an item has the contract's members, absent ones null")
    func item() {
        var item = Item(localID: LocalID("l"), fileID: nil, path: ItemPath(unchecked: "/a/b"), kind: .file)
        #expect(
            JSONValue(item, availableOffline: "none", localPath: nil).text == """
                {"path":"/a/b","name":"b","type":"file","size":null,"mimeType":null,"etag":null,"fileID":null,\
                "localID":"l","lastModified":null,"lastUsed":null,"cloudStatus":"cloudOnly","downloadTrigger":null,\
                "removed":false,"favorite":false,"remoteVersion":null,"parentPath":"/a","owner":null,\
                "permissions":null,"availableOffline":"none","syncActivity":[],"claimed":false,"localPath":null,"shares":[]}
                """)
        item.size = 7
        item.lastModified = Timestamp(nanoseconds: 1_500_000_000)
        item.cloudStatus = .localCopy
        item.downloadTrigger = .availableOffline
        item.syncActivity = [.downloading, .moving]
        let text = JSONValue(item, availableOffline: "indirect", localPath: "/v/a/b").text
        #expect(text.contains(#""size":7,"#) && text.contains(#""lastModified":"1970-01-01T00:00:01.5Z""#))
        #expect(text.contains(#""cloudStatus":"localCopy","downloadTrigger":"availableOffline""#))
        #expect(text.contains(#""syncActivity":["downloading","moving"],"claimed":false,"localPath":"/v/a/b""#))
    }

    @Test("H1: policies, records, issues, plugins and errors have the contract's members")
    func others() {
        let policy = ItemPolicy(
            id: PolicyID("p"), kind: .availableOffline, condition: "true", path: ItemPath(unchecked: "/x"))
        #expect(
            JSONValue(PolicyReport(policy, items: 2, bytes: 30)).text == """
                {"id":"p","kind":"availableOffline","where":"true","identifier":null,"description":null,"path":"/x",\
                "localID":null,"removeWhenNone":null,"items":2,"bytes":30}
                """)
        let record = SyncRecord(
            id: 4, action: .download, state: .ready, localID: LocalID("l"), path: ItemPath(unchecked: "/x"),
            reason: .user,
            since: Timestamp(seconds: 0), wait: .issue(9))
        #expect(
            JSONValue(SyncRecordReport(record: record, lane: 3)).text == """
                {"id":4,"action":"download","path":"/x","state":"failed","lane":3,"since":"1970-01-01T00:00:00Z",\
                "reason":"user","waitsFor":"issue 9","progress":null}
                """)
        #expect(JSONValue(SyncRecordReport(record: record, lane: 4, progress: 0.5)).text.hasSuffix(#""progress":0.5}"#))
        let choice = Model.Issue.Choice(id: "retry", label: "Try again", impact: .nonDestructive)
        let issue = Model.Issue(
            id: 9, record: 4, code: "c", subject: "/x", message: "m", choices: [choice], created: Timestamp(seconds: 0))
        #expect(
            JSONValue(issue).text == """
                {"id":9,"record":4,"code":"c","message":"m","choices":\
                [{"id":"retry","label":"Try again","impact":"nonDestructive"}]}
                """)
        let plugin = PluginReport(
            id: PluginID("a.b"), name: "n", state: .refused, isolation: .inProcess, reason: "r", kinds: ["k"])
        #expect(
            JSONValue(plugin).text == """
                {"id":"a.b","name":"n","version":null,"library":null,"state":"refused","isolation":"in-process",\
                "reason":"r","kinds":["k"],"abi":null,"grants":[],"onDisk":"same"}
                """)
        #expect(
            JSONValue(error: Failure(.vaultLocked, "m", hint: "h")).text
                == #"{"error":{"code":"vaultLocked","message":"m","hint":"h"}}"#)
    }
}
