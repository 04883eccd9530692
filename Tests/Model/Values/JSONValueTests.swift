import Model
import Testing

@Suite struct JSONValueTests {
    @Test(
        "what RFC 8259 does not have is refused, as a plugin's reader refuses it",
        arguments: [
            "01", "-01", "00", "-", ".5", "-.5", "1.", "1.e5", "1e", "1e+", "1.5.2", "1-2", "1+", "+1", "0x1", "1e999",
            #"{"a": 1, "b": 2, "a": 1}"#, #"{"\u0061": 1, "a": 2}"#, #""\u+12f""#, #""\u-12f""#, #""\u 12f""#,
            #""\u12""#, #""\u00g0""#, #""\ud83d\u+e00""#,
        ])
    func malformed(_ text: String) {
        #expect(throws: JSONValue.ParsingError.self) { try JSONValue(parsing: text) }
        #expect(throws: JSONValue.ParsingError.self) { try JSONValue(parsing: "{\"a\": [\(text)]}") }
    }

    @Test("numbers are whole or not, in every way that they can be written")
    func numbers() throws {
        let numbers: [(String, JSONValue)] = [
            ("0", .integer(0)), ("-0", .integer(0)), ("10", .integer(10)), ("-7", .integer(-7)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("0.5", .number(0.5)), ("-0.25", .number(-0.25)), ("1e2", .number(100)), ("1E+2", .number(100)),
            ("12.5e-1", .number(1.25)), ("0e0", .number(0)),
        ]
        for (text, value) in numbers {
            #expect(try JSONValue(parsing: " \(text) ") == value, "\(text)")
            #expect(try JSONValue(parsing: "[\(text),\(text)]") == .array([value, value]), "\(text)")
        }
        // Names differ that Unicode finds equal.
        let names = "{\"\u{E9}\": 1, \"e\u{301}\": 2, \"a\": {\"\u{E9}\": 3}}"
        #expect(try JSONValue(parsing: names)["e\u{301}"] == .integer(2))
        #expect(try JSONValue(parsing: #""\u00e9\uD83D\ude00""#) == .string("\u{E9}\u{1F600}"))
    }

    @Test("A name that comes twice is found in objects of any size, wherever it comes")
    func twice() throws {
        for count in [2, 15, 16, 17, 18, 40] {
            let names = (0..<count).map { "n\($0)" }
            let whole = names.map { "\"\($0)\": 1" }.joined(separator: ",")
            #expect(try JSONValue(parsing: "{\(whole)}")["n\(count - 1)"] == .integer(1))
            for name in [names[0], names[count / 2], names[count - 1]] {
                #expect(throws: JSONValue.ParsingError.self, "\(count) \(name)") {
                    try JSONValue(parsing: "{\(whole),\"\(name)\": 2}")
                }
            }
        }
    }

    @Test("Text before, between and after escapes is kept")
    func escapes() throws {
        #expect(try JSONValue(parsing: #""\n""#) == .string("\n"))
        #expect(try JSONValue(parsing: #""ab\ncd\u00e9ef\\""#) == .string("ab\ncd\u{E9}ef\\"))
        #expect(try JSONValue(parsing: #""\t\tab""#) == .string("\t\tab") && JSONValue(parsing: #""""#) == .string(""))
        for text in [#""ab"#, "\"a\nb\"", #""a\x""#, #""\"#] {
            #expect(throws: JSONValue.ParsingError.self, "\(text)") { try JSONValue(parsing: text) }
        }
    }
}
