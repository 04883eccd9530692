import LarderSDK
import Testing

@Suite struct JSONTests {
    @Test("SDK: a settings object is read with its types")
    func settings() throws {
        let json = try JSON(
            parsing:
                #" {"on": true, "years": 5, "share": 0.5, "big": 10000000000000000000, "#
                + #""names": ["a", null], "none": {}} "#
        )
        #expect(json["on"]?.boolean == true)
        #expect(json["years"]?.integer == 5 && json["years"]?.number == 5)
        #expect(json["share"]?.number == 0.5 && json["share"]?.integer == nil)
        #expect(json["big"]?.integer == nil && json["big"]?.number == 1e19)
        #expect(json["names"]?.array == [.string("a"), .null])
        #expect(json["none"] == .object([]))
        #expect(json["missing"] == nil && json["on"]?["x"] == nil)
    }

    @Test(
        "SDK: strings are read with their escapes",
        arguments: [
            (#""""#, ""), (#""a\"b\\c\/d""#, "a\"b\\c/d"), (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"),
            (#""\u00e9\uD83D\ude00""#, "\u{E9}\u{1F600}"), ("\"\u{1F600}\u{E9}\"", "\u{1F600}\u{E9}"),
        ])
    func strings(_ text: String, _ value: String) throws {
        #expect(try Array(JSON(parsing: text).string?.utf8 ?? "?".utf8) == Array(value.utf8))
    }

    @Test(
        "SDK: what is no JSON is refused",
        arguments: [
            "", " ", "{", "}", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":1}",
            "{\"a\":{},\"\\u0061\":2}", "01", "-", "1.", ".5",
            "1e",
            "+1", "1e999", "tru", "nulll", "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
            "\"\\udc00\"", "\"\n\"", "true false", "\"a\" ,", String(repeating: "[", count: 100_000),
        ])
    func malformed(_ text: String) {
        #expect(throws: PluginError.self) { try JSON(parsing: text) }
    }

    @Test("SDK: bytes that are not UTF-8 are refused")
    func notUTF8() {
        let bytes: [UInt8] = [0x22, 0xC3, 0x28, 0x22]
        #expect(throws: PluginError.self) { try JSON(parsing: bytes.span) }
    }

    @Test("SDK: sixty-four levels are read, one more is not")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try JSON(parsing: nested(64))
        #expect(throws: PluginError.self) { try JSON(parsing: nested(65)) }
    }

    @Test("SDK: a value is written as a text that reads as the same value")
    func written() throws {
        let value = JSON.object(of: [
            "text": .string("a\"\\\u{1}\n\r\t\u{1F600}"), "none": nil, "null": .null,
            "list": .array([.integer(.min), .boolean(true)]),
            "number": .number(1e300), "empty": .object([]),
        ])
        #expect(try JSON(parsing: value.text) == value)
        #expect(
            value.text
                == #"{"text":"a\"\\\u0001\n\r\t\#u{1F600}","null":null,"list":[-9223372036854775808,true],"#
                + #""number":1e+300,"empty":{}}"#
        )
        #expect(JSON.number(.infinity).text == "null")
    }
}
