import Model
import Testing

@Suite struct ConditionErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String
        var kind: ConditionError.Kind
        var column: Int
        var testDescription: String { text }
        init(_ text: String, _ kind: ConditionError.Kind, _ column: Int) {
            self.text = text
            self.kind = kind
            self.column = column
        }
    }

    @Test(
        "Q6: what makes no sense is a named error with its column, when parsed",
        arguments: [
            Case("removed && sise > 3", .unknownProperty, 12), Case("size > '3'", .unlikeTypes, 6),
            Case("path == 3", .unlikeTypes, 6), Case("lastUsed < duration('1h')", .unlikeTypes, 10),
            Case("size in [1, 'a']", .unlikeTypes, 13), Case("removed == 'true'", .unlikeTypes, 9),
            Case("path", .unlikeTypes, 1), Case("!path", .unlikeTypes, 2), Case("removed && 1", .unlikeTypes, 12),
            Case("null", .unlikeTypes, 1), Case("(size > 3) == true", .unlikeTypes, 1),
            Case("!removed == true", .unlikeTypes, 1), Case("size.startsWith('1')", .unlikeTypes, 1),
            Case("path.startsWith(1)", .unlikeTypes, 17), Case("now + now < now", .unlikeTypes, 5),
            Case("size + 1 == 2", .unlikeTypes, 6), Case("null + duration('1h') == now", .unlikeTypes, 6),
            Case("removed < favorite", .unlikeTypes, 9), Case("cloudStatus < 'localCopy'", .unlikeTypes, 13),
            Case("cloudStatus == 'cloudonly'", .unknownValue, 16), Case("'dir' == type", .unknownValue, 1),
            Case("type in ['file', 'dir']", .unknownValue, 18), Case("path.matches('a')", .unknownFunction, 6),
            Case("size(path) > 1", .unknownFunction, 1), Case("date('2026')", .unknownFunction, 1),
            Case("timestamp('yesterday') < now", .syntax, 11), Case("now - duration('7d') < now", .syntax, 16),
            Case("", .syntax, 1), Case("   ", .syntax, 4), Case("removed &&", .syntax, 11),
            Case("(removed", .syntax, 9),
            Case("removed)", .syntax, 8), Case("removed and favorite", .syntax, 9), Case("size = 3", .syntax, 6),
            Case("removed & favorite", .syntax, 9), Case("1 < 2 < 3", .syntax, 7), Case("path == 'a", .syntax, 9),
            Case("path == 'a\nb'", .syntax, 11), Case(#"path == "a\q""#, .syntax, 11),
            Case(#"path == "\ud800""#, .syntax, 10), Case(#"path == "\u12""#, .syntax, 10),
            Case(#"path == "\u+123""#, .syntax, 10), Case(#"path == "a\"#, .syntax, 11),
            Case("size == 9223372036854775808", .syntax, 9), Case("size == 1.5", .syntax, 9),
            Case("size == 99999999999999999999", .syntax, 9), Case("size in [size]", .syntax, 10),
            Case("size in 3", .syntax, 9), Case("size in [1 2]", .syntax, 12), Case("path.startsWith('a'", .syntax, 20),
            Case("path ~ 'a'", .syntax, 6), Case("timestamp(now) < now", .syntax, 11), Case("- path == 1", .syntax, 3),
            Case("path.startsWith('a').contains('b')", .syntax, 21),
            Case("syncActivity", .unlikeTypes, 1), Case("removed || !syncActivity", .unlikeTypes, 13),
            Case("syncActivity == 'uploading'", .unlikeTypes, 1), Case("null != syncActivity", .unlikeTypes, 9),
            Case("syncActivity in ['uploading']", .unlikeTypes, 1),
            Case("'uploading' in [syncActivity]", .unlikeTypes, 17),
            Case("syncActivity.contains('uploading')", .unlikeTypes, 1),
            Case("path.startsWith(syncActivity)", .unlikeTypes, 17), Case("now - syncActivity > now", .unlikeTypes, 7),
            Case("name in syncActivity", .unlikeTypes, 1), Case("null in syncActivity", .unlikeTypes, 1),
            Case("(removed) in syncActivity", .unlikeTypes, 1),
            Case("'upload' in syncActivity", .unknownValue, 1), Case("'a' in owner", .syntax, 8),
            Case("removed && availableOffline == 'none'", .notInPolicy, 12), Case("!claimed", .notInPolicy, 2),
        ])
    func errors(_ expected: Case) throws {
        let found = try #require(error(expected.text))
        #expect(found.kind == expected.kind, "\(found)")
        #expect(found.column == expected.column, "\(found)")
        #expect(!found.message.isEmpty && !found.message.hasSuffix("."))
    }

    @Test("Q6: columns count characters as a reader does, and the place in bytes is told too")
    func columns() throws {
        let found = try #require(error("name == 'e\u{301}👩‍👩‍👧é' && nam == 'x'"))
        #expect(found.column == 18)
        #expect(found.byteOffset == "name == 'e\u{301}👩‍👩‍👧é' && ".utf8.count)
        #expect(found.description == "column 18: there is no property 'nam'; did you mean name?")
    }

    @Test("Q6: a slip of the pen is answered with what was probably meant")
    func hints() {
        #expect(error("cloudstatus == 'x'")?.hint == "did you mean cloudStatus?")
        #expect(error("cloudStatus == 'cloudonly'")?.hint == "did you mean cloudOnly?")
        #expect(error("type == 'x'")?.hint == "known are file, folder")
        #expect(error("removed and favorite")?.hint == "write && for and")
        let list = "ask whether a name is in it, as 'uploading' in syncActivity"
        #expect(error("syncActivity == 'uploading'")?.hint == list && error("syncActivity")?.hint == list)
        #expect(error("name in syncActivity")?.hint == "write the name in quotes, as 'uploading' in syncActivity")
        #expect(error("'uplaoding' in syncActivity")?.hint == "did you mean uploading?")
        #expect(error("path == '" + String(repeating: "x", count: 100))?.column == 9)
    }

    @Test("Q7: a text over 1 MiB or over 200 levels deep is an error; up to that it is read")
    func limits() throws {
        let open = String(repeating: "(", count: 200)
        let close = String(repeating: ")", count: 200)
        #expect(try holds(open + "favorite" + close))
        #expect(error("(" + open + "favorite" + close + ")")?.kind == .tooDeep)
        #expect(try holds(String(repeating: "!", count: 200) + "favorite"))
        #expect(error(String(repeating: "!", count: 201) + "favorite")?.kind == .tooDeep)
        #expect(error(String(repeating: "!(", count: 500_000))?.kind == .tooDeep)
        #expect(error(String(repeating: "(", count: 1 << 20))?.kind == .tooDeep)
        #expect(error(String(repeating: "''.contains(", count: 201))?.kind == .tooDeep)
        #expect(error(String(repeating: "''.contains(", count: 80_000))?.kind == .tooDeep)
        let longest = "favorite" + String(repeating: " ", count: (1 << 20) - 8)
        #expect(try holds(longest))
        #expect(error(longest + " ")?.kind == .tooLong)
        let sum = "lastUsed" + String(repeating: " + duration('1s')", count: 9) + " < now"
        #expect(error(sum)?.kind == .tooDeep)
        // Closed levels do not count.
        #expect(try holds(Array(repeating: "(!(removed))", count: 300).joined(separator: " && ")))
    }

    @Test("A failure of a condition names where it was written and what to do")
    func failure() throws {
        let failure = try #require(error("sise > 3")).failure(in: "--where")
        #expect(failure.kind == .badData)
        #expect(failure.message == "--where: the condition has an error at column 1: there is no property 'sise'")
        #expect(failure.hint == .text("did you mean size?"))
    }
}
