import Model
import Testing

@Suite struct ConditionTextTests {
    @Test(
        "Q7: the text of every kind of condition is stable and reads back as the same",
        arguments: [
            ("size>3", "size > 3"), ("( removed )", "removed"), ("!!removed", "!!removed"),
            ("!(path.startsWith('a'))", #"!path.startsWith("a")"#),
            ("!(size in [1,null,-2])", "!(size in [1, null, -2])"),
            ("(removed||favorite)&&true", "(removed || favorite) && true"),
            ("(removed&&favorite)||false", "removed && favorite || false"),
            ("(removed||true)||false", "removed || true || false"),
            ("!(removed||favorite)", "!(removed || favorite)"), ("path==r'a\\n'", #"path == "a\\n""#),
            (
                #"path == '\x41\101\U0001F600\'\"\`\?\a\b\f\v\r\t\0'"#.replacing(#"\0'"#, with: #"\000'"#),
                #"path == "AA😀'\"`?\u0007\u0008\u000c\u000b\r\t\u0000""#
            ),
            ("lastUsed<now-duration('1h30m')", #"lastUsed < now - duration("90m")"#),
            ("now - (lastUsed - lastModified) > lastUsed", "now - (lastUsed - lastModified) > lastUsed"),
            (
                "(now - duration('0h')) - duration('-1500ms') > lastUsed",
                #"now - duration("0s") - duration("-1500ms") > lastUsed"#
            ),
            (
                "lastUsed == timestamp('2026-11-21t11:12:00.5+01:00')",
                #"lastUsed == timestamp("2026-11-21T10:12:00.5Z")"#
            ),
            ("size == -9223372036854775808", "size == -9223372036854775808"), ("removed == null", "removed == null"),
            ("!('moving' in syncActivity)", #"!("moving" in syncActivity)"#),
            ("'a' == name", #""a" == name"#), ("path\n\t==\r\n'a'", #"path == "a""#),
        ])
    func rendering(_ source: String, _ expected: String) throws {
        let condition = try Condition(parsing: source)
        #expect(condition.text == expected)
        #expect(try Condition(parsing: condition.text) == condition)
    }

    @Test("Q7: texts that differ in bytes alone stay apart")
    func canonicalEquivalence() throws {
        #expect(try Condition(parsing: "name == 'e\u{301}'") != Condition(parsing: "name == '\u{e9}'"))
    }

    @Test("Q7: groups within groups of their kind are one, and their text reads back as the same")
    func groups() throws {
        let a = Condition.property(.removed)
        let b = Condition.property(.favorite)
        let both = Condition.allOf([.allOf([a, b]), .anyOf([a, .anyOf([b, .not(a)])])])
        #expect(both.text == "removed && favorite && (removed || favorite || !removed)")
        #expect(try Condition(parsing: both.text) == both)
        #expect(Condition.anyOf([a]) == a)
    }

    @Test("Q7: a group of 10,000 terms is read, answered and rendered; unknown operators are refused")
    func tenThousandTerms() throws {
        let text = (0..<10_000).map { #"path == "/p\#($0)" || path.startsWith("/p\#($0)/")"# }.joined(separator: " || ")
        let condition = try Condition(parsing: text)
        #expect(condition.text == text)
        let last = Item(localID: LocalID("x"), fileID: nil, path: ItemPath(unchecked: "/p9999/x"), kind: .file)
        #expect(condition.matches(last, now: noon))
        #expect(!condition.matches(report, now: noon))
        #expect(error(text + " ^ removed")?.byteOffset == text.utf8.count + 1)
    }
}
