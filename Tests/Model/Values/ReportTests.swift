import FoundationEssentials
import Model
import TestSupport
import Testing

@Suite struct ReportTests {
    @Test("a report's members come in the order of its keys, absent ones are null, and times are texts")
    func members() {
        #expect(
            JSONValue(Report()).text == """
                {"z":1,"name":"a","on":true,"part":0.5,"nothing":null,"when":"1970-01-01T00:00:01.5Z","untimed":null,\
                "path":"/a","list":[{"id":1},null],"empty":[],"none":{},"case":{"some":{"first":"x","rest":[[1,2],[]]}}}
                """)
        #expect(JSONValue([Int64.min, .max]).text == "[-9223372036854775808,9223372036854775807]")
        #expect(JSONValue(Int?.none) == .null)
    }

    @Test("what Larder's own commands alone need of a report is sent, and not printed")
    func unprinted() throws {
        let report = PolicyReport(
            ItemPolicy(databaseID: PolicyRowID(4), id: PolicyID("p"), kind: .availableOffline, condition: "true"),
            items: 2)
        #expect(
            JSONValue(report).text == """
                {"id":"p","kind":"availableOffline","where":"true","identifier":null,"description":null,"path":null,\
                "localID":null,"removeWhenNone":null,"items":2,"bytes":null}
                """)
        let sent = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(PolicyReport.self, from: sent) == report)
    }

    @Test("a time is read from a text and from nanoseconds, and nothing else is one")
    func times() throws {
        let time = Timestamp(nanoseconds: 1_500_000_000)
        let key = try #require(Timestamp.asText)
        let encoder = JSONEncoder()
        #expect(String(decoding: try encoder.encode([time]), as: UTF8.self) == "[1500000000]")
        encoder.userInfo[key] = true
        #expect(String(decoding: try encoder.encode([time]), as: UTF8.self) == #"["1970-01-01T00:00:01.5Z"]"#)
        for text in [#"["1970-01-01T00:00:01.5Z"]"#, "[1500000000]"] {
            #expect(try JSONDecoder().decode([Timestamp].self, from: Data(text.utf8)) == [time])
        }
        for text in [#"["yesterday"]"#, #"["9999-01-01T00:00:00Z"]"#, "[true]", "[1.5]"] {
            #expect(throws: DecodingError.self, "\(text)") {
                try JSONDecoder().decode([Timestamp].self, from: Data(text.utf8))
            }
        }
    }

    private enum Shape: Encodable { case circle(Int) }

    @Test("A case with a value that has no name keeps the value")
    func unnamed() {
        #expect(JSONValue(Shape.circle(3)).text == #"{"circle":{"_0":3}}"#)
    }
}

private struct Report: Encodable {
    struct Element: Encodable {
        var id = SyncRecordID(1)
        var _hidden = "h"
    }

    struct Nothing: Encodable {}
    enum Choice: Encodable { case some(first: String, rest: [[Int]]) }
    enum CodingKeys: String, CodingKey {
        case number = "z"
        case name, on, part, nothing, when, untimed, path, list, empty, none
        case choice = "case"
    }

    var name = "a"
    var number: UInt8 = 1
    var on = true
    var part: Float? = 0.5
    var nothing: Int?
    var when = Timestamp(nanoseconds: 1_500_000_000)
    var untimed: Timestamp?
    var path = ItemPath(unchecked: "/a")
    var list: [Element?] = [Element(), nil]
    var empty: [String] = []
    var none = Nothing()
    var choice = Choice.some(first: "x", rest: [[1, 2], []])
}
